(** A bound for one step is a bound for every distance (proofs/README.md): datasets at symmetric distance d are, in some order, a
    common part and d rows more; datasets of one size at change-one distance d are a common part and d replaced rows. *)
From Coq Require Import Reals List Lra Lia Permutation.
From SnapDP Require Import Law Datasets Pipeline.
Import ListNotations.
Open Scope R_scope.

(** ** Metrics of datasets, as "at distance at most d" *)
Definition symmetric {A} : near (list A) := fun v w d => dsym v w <= d.
Definition hamming_near {A} : near (list A) := fun v w d => length v = length w /\ hamming v w <= d.
Definition absolute : near R := fun x y d => Rabs (x - y) <= d.
Definition manhattan : near (list R) := fun x y d => length x = length y /\ l1_distance x y <= d.

(** [f] is c-stable on [domain]; distances of datasets are whole numbers. *)
Definition stable_in {X Y} (domain : X -> Prop) (nx : near X) (ny : near Y) (c : R) (f : X -> Y) : Prop :=
  forall (d : nat) v w, domain v -> domain w -> nx v w (INR d) -> ny (f v) (f w) (c * INR d).

Definition everywhere {X} (_ : X) : Prop := True.

(** ** Shapes *)
Lemma dsym_cons_away {A} (z : A) v w : hist w z <= hist v z -> dsym (z :: v) w = dsym v w + 1.
Proof.
  intro H. set (D := dedup (z :: v ++ w)).
  assert (NoDup D) as HD by apply dedup_NoDup.
  assert (In z D) as Hz by (apply dedup_In; simpl; auto).
  rewrite (dsym_over (z :: v) w D), (dsym_over v w D); auto.
  - assert (sumf (fun x => Rabs (hist (z :: v) x - hist w x)) D
            = sumf (fun x => Rabs (hist v x - hist w x) + 1 * (ind (z = x) * 1)) D) as ->.
    { apply sumf_eq. intros x _. rewrite hist_cons. destruct (decide (z = x)) as [<-|h].
      - rewrite ind_true by auto. rewrite !Rabs_right by lra. lra.
      - rewrite ind_false by auto. replace (0 + hist v x - hist w x) with (hist v x - hist w x) by ring. lra. }
    rewrite sumf_plus, sumf_scal, (sumf_pick (fun _ => 1)); auto. lra.
  - intros x Hx. apply dedup_In. simpl. right. exact Hx.
  - intros x Hx. apply dedup_In. exact Hx.
Qed.

Lemma dsym_cons_both {A} (z : A) v w : dsym (z :: v) (z :: w) = dsym v w.
Proof.
  set (D := dedup (z :: v ++ w)).
  assert (NoDup D) as HD by apply dedup_NoDup.
  rewrite (dsym_over (z :: v) (z :: w) D), (dsym_over v w D); auto.
  - apply sumf_eq. intros x _. rewrite !hist_cons. f_equal. ring.
  - intros x Hx. apply dedup_In. right. exact Hx.
  - intros x Hx. apply dedup_In. rewrite in_app_iff in Hx. simpl in *. rewrite in_app_iff. tauto.
Qed.

Lemma dsym_nil {A} (w : list A) : dsym [] w = INR (length w).
Proof.
  induction w as [|z w IH]; [reflexivity|].
  rewrite dsym_sym, dsym_cons_away, dsym_sym, IH; [simpl length; now rewrite S_INR|].
  rewrite !hist_count. simpl. apply pos_INR.
Qed.

Lemma dsym_perm {A} (v v' w : list A) : Permutation v v' -> dsym v w = dsym v' w.
Proof. intro H. apply dsym_hist, hist_perm, H. Qed.

Theorem symmetric_shape {A} (v w : list A) : exists common more less,
  Permutation v (common ++ more) /\ Permutation w (common ++ less) /\ INR (length more + length less) = dsym v w.
Proof.
  revert w. induction v as [|z v IH]; intro w.
  - exists [], [], w. simpl. rewrite dsym_nil. repeat split; auto.
  - destruct (decide (In z w)) as [h|h].
    + destruct (in_split _ _ h) as (a & b & ->).
      assert (Permutation (a ++ z :: b) (z :: a ++ b)) as HP by (apply Permutation_sym, Permutation_middle).
      destruct (IH (a ++ b)) as (c & m & l & H1 & H2 & H3). exists (z :: c), m, l. simpl. repeat split.
      * now constructor.
      * eapply perm_trans; [exact HP|]. now constructor.
      * rewrite H3, (dsym_sym (z :: v)), (dsym_perm _ _ _ HP), (dsym_sym (z :: a ++ b)). symmetry. apply dsym_cons_both.
    + destruct (IH w) as (c & m & l & H1 & H2 & H3). exists c, (z :: m), l. repeat split; auto.
      * eapply perm_trans; [apply perm_skip, H1|]. apply Permutation_middle.
      * simpl length. rewrite Nat.add_succ_l, S_INR, H3. symmetry. apply dsym_cons_away.
        rewrite (hist_out w) by auto. rewrite hist_count. apply pos_INR.
Qed.

Theorem change_one_shape {A} (v w : list A) (d : nat) : change_one v w (INR d) -> exists common old new,
  Permutation v (common ++ old) /\ Permutation w (common ++ new) /\ length old = length new /\ (length old <= d)%nat.
Proof.
  intros [HL HD]. destruct (symmetric_shape v w) as (c & m & l & H1 & H2 & H3). exists c, m, l.
  generalize (Permutation_length H1) (Permutation_length H2). rewrite !app_length. intros L1 L2.
  repeat split; auto; [lia|].
  rewrite <- H3, plus_INR in HD. assert (INR (length m) = INR (length l)) as E by (f_equal; lia).
  apply INR_le. lra.
Qed.

(** ** A distance of results *)
Record pseudometric {Y} (delta : Y -> Y -> R) : Prop := {
  zero_at : forall y, delta y y = 0;
  commutes : forall x y, delta x y = delta y x;
  triangle : forall x y z, delta x z <= delta x y + delta y z }.

Section ByRows.
Context {A Y : Type} (P : A -> Prop) (delta : Y -> Y -> R) (f : list A -> Y) (c : R).
Hypothesis metric : pseudometric delta.
Hypothesis c_nonneg : 0 <= c.
Hypothesis no_order : forall v w, Forall P v -> Permutation v w -> f v = f w.

Lemma Forall_perm (v w : list A) : Permutation v w -> Forall P v -> Forall P w.
Proof. intros H HP. rewrite Forall_forall in *. intros x Hx. apply HP. eapply Permutation_in; [symmetry; exact H|auto]. Qed.

(** Rows are added or removed. *)
Theorem by_added_rows : (forall x r, P x -> Forall P r -> delta (f (x :: r)) (f r) <= c) ->
  forall (d : nat) v w, Forall P v -> Forall P w -> dsym v w <= INR d -> delta (f v) (f w) <= c * INR d.
Proof.
  intros Hstep d v w Hv Hw Hd.
  destruct (symmetric_shape v w) as (common & more & less & H1 & H2 & H3).
  assert (forall extra, Forall P (common ++ extra) -> delta (f (common ++ extra)) (f common) <= c * INR (length extra)) as H.
  { induction extra as [|x extra IH]; intro HP.
    - rewrite app_nil_r, (zero_at _ metric). simpl. lra.
    - assert (Permutation (common ++ x :: extra) (x :: common ++ extra)) as Hm by (symmetry; apply Permutation_middle).
      rewrite (no_order _ _ HP Hm). apply (Forall_perm _ _ Hm) in HP. inversion_clear HP.
      apply Rle_trans with (1 := triangle _ metric _ (f (common ++ extra)) _).
      simpl length. rewrite S_INR. specialize (IH H0). specialize (Hstep x (common ++ extra) H H0). lra. }
  rewrite (no_order _ _ Hv H1), (no_order _ _ Hw H2).
  apply Rle_trans with (1 := triangle _ metric _ (f common) _). rewrite (commutes _ metric (f common)).
  generalize (H more (Forall_perm _ _ H1 Hv)) (H less (Forall_perm _ _ H2 Hw)). intros A1 A2.
  apply Rle_trans with (c * INR (length more + length less)); [rewrite plus_INR; lra|].
  apply Rmult_le_compat_l; auto. lra.
Qed.

(** Rows are replaced. *)
Theorem by_replaced_rows n : (forall x y r, P x -> P y -> Forall P r -> length (x :: r) = n -> delta (f (x :: r)) (f (y :: r)) <= c) ->
  forall (d : nat) v w, Forall P v -> Forall P w -> length v = n -> change_one v w (INR d) -> delta (f v) (f w) <= c * INR d.
Proof.
  intros Hstep d v w Hv Hw Hn Hd.
  destruct (change_one_shape v w d Hd) as (common & old & new & H1 & H2 & H3 & H4).
  assert (forall old new common, length old = length new -> length (common ++ old) = n ->
    Forall P (common ++ old) -> Forall P (common ++ new) ->
    delta (f (common ++ old)) (f (common ++ new)) <= c * INR (length old)) as H.
  { clear - Hstep metric no_order. induction old as [|x old IH]; intros [|y new] common HL Hn HP HQ; simpl in HL; try discriminate.
    - rewrite (zero_at _ metric). simpl. lra.
    - assert (Permutation (common ++ x :: old) (x :: common ++ old)) as Hx by (symmetry; apply Permutation_middle).
      assert (Permutation (common ++ y :: new) (y :: common ++ new)) as Hy by (symmetry; apply Permutation_middle).
      assert (Permutation (y :: common ++ old) ((common ++ [y]) ++ old)) as Hmid.
      { rewrite <- app_assoc. simpl. apply Permutation_middle. }
      assert (Permutation (y :: common ++ new) ((common ++ [y]) ++ new)) as Hend.
      { rewrite <- app_assoc. simpl. apply Permutation_middle. }
      rewrite (no_order _ _ HP Hx), (no_order _ _ HQ Hy).
      generalize (Forall_perm _ _ Hx HP) (Forall_perm _ _ Hy HQ). intros HP' HQ'.
      inversion HP' as [|? ? Px Pr]. inversion HQ' as [|? ? Py Pr']. subst.
      apply Rle_trans with (1 := triangle _ metric _ (f (y :: common ++ old)) _).
      assert (Forall P (y :: common ++ old)) as Hyo by now constructor.
      rewrite (no_order _ _ Hyo Hmid), (no_order _ _ HQ' Hend).
      rewrite <- (no_order _ _ Hyo Hmid) at 1.
      assert (length (common ++ x :: old) = length ((common ++ [y]) ++ old)) as E by (rewrite !app_length; simpl; lia).
      specialize (IH new (common ++ [y]) ltac:(lia)). rewrite <- E in IH.
      specialize (IH eq_refl (Forall_perm _ _ Hmid Hyo) (Forall_perm _ _ Hend HQ')).
      generalize (Hstep x y (common ++ old) Px Py Pr). rewrite <- (Permutation_length Hx). intro Hs.
      simpl length. rewrite S_INR. specialize (Hs eq_refl). lra. }
  rewrite (no_order _ _ Hv H1), (no_order _ _ Hw H2).
  apply Rle_trans with (c * INR (length old)).
  - apply H; auto; [now rewrite <- (Permutation_length H1)|exact (Forall_perm _ _ H1 Hv)|exact (Forall_perm _ _ H2 Hw)].
  - apply Rmult_le_compat_l; auto. now apply le_INR.
Qed.
End ByRows.

Lemma absolute_metric : pseudometric (fun x y => Rabs (x - y)).
Proof.
  split.
  - intro y. rewrite Rminus_diag_eq, Rabs_R0; auto.
  - apply Rabs_minus_sym.
  - intros x y z. replace (x - z) with (x - y + (y - z)) by ring. apply Rabs_triang.
Qed.

(** ** Hamming distance: a pair at distance d is one at change-one distance d. *)
Theorem hamming_gives_change_one {A} (v w : list A) d : hamming_near v w d -> change_one v w d.
Proof. intros [HL H]. destruct (hamming_change_one v w HL) as [_ HD]. split; auto. lra. Qed.

(** What holds for replaced rows holds for the Hamming distance. *)
Theorem stable_under_hamming {A Y} domain (ny : near Y) c (f : list A -> Y) :
  stable_in domain change_one ny c f -> stable_in domain hamming_near ny c f.
Proof. intros H d v w Hv Hw Hd. apply H; auto. now apply hamming_gives_change_one. Qed.
