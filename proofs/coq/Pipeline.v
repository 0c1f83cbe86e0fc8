(** Whole releases: from datasets to outputs. *)
From Coq Require Import Reals ZArith List Lra Lia Permutation.
From SnapDP Require Import Law Rounding Laplace Snapping Datasets.
Import ListNotations.
Open Scope R_scope.

(** Lemma 2 at distance d: the sensitivity of the rounded statistic is d times that at distance 1. *)
Lemma round_stable_at g M (d : nat) x y : 0 < g -> Rabs (x - y) <= M * INR d ->
  Rabs (round g x - round g y) <= g * IZR (ceil (M / g)) * INR d.
Proof.
  intros Hg H. apply Rle_trans with (1 := round_stable g _ x y Hg H).
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|].
  rewrite INR_IZR_INZ, <- mult_IZR. apply IZR_le. apply ceil_least.
  rewrite mult_IZR, <- INR_IZR_INZ.
  replace (M * INR d / g) with (M / g * INR d) by (field; lra).
  apply Rmult_le_compat_r; [apply pos_INR|apply ceil_ge].
Qed.

Lemma loss_scale D lam eps d : 0 < lam -> 0 < eps -> D / eps <= lam -> 0 <= d -> D * d / lam <= eps * d.
Proof.
  intros HL He H Hd. replace (D * d / lam) with (D / lam * d) by (field; lra).
  apply Rmult_le_compat_r; auto. apply Rmult_le_reg_r with lam; auto.
  replace (D / lam * lam) with D by (field; lra).
  apply Rmult_le_reg_r with (/ eps); [now apply Rinv_0_lt_compat|].
  replace (eps * lam * / eps) with lam by (field; lra). exact H.
Qed.

Section SumRelease.
Variables (lo hi : R) (g grid lam eps : R) (lower upper : option R).
Hypothesis bounds : lo <= hi.
Hypothesis g_pos : 0 < g.       (* the statistic's grid *)
Hypothesis grid_pos : 0 < grid. (* the noise's grid *)
Hypothesis eps_pos : 0 < eps.
Hypothesis lam_pos : 0 < lam.

Definition clamped_sum (v : list R) : R := sumf (clamp lo hi) v.
Definition sum_release (v : list R) : R -> R := release lam grid lower upper (round g (clamped_sum v)).

(** Rows may be added or removed. *)
Theorem sum_release_private (d : nat) v w :
  g * IZR (ceil (Rmax (Rabs lo) (Rabs hi) / g)) / eps <= lam ->
  dsym v w <= INR d -> dp (eps * INR d) (sum_release v) (sum_release w).
Proof.
  intros HL Hd. set (M := Rmax (Rabs lo) (Rabs hi)) in *.
  assert (0 <= M) as HM by (apply Rle_trans with (1 := Rabs_pos lo); apply Rmax_l).
  apply dp_weaken with (g * IZR (ceil (M / g)) * INR d / lam).
  - apply push_summable, snap_summable; auto.
  - apply loss_scale; auto. apply pos_INR.
  - apply release_dp; auto. apply round_stable_at; auto.
    apply Rle_trans with (M * dsym v w); [|now apply Rmult_le_compat_l].
    apply sum_stable. intros z _. generalize (clamp_range lo hi z bounds).
    unfold M, Rmax, Rabs. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra.
Qed.

(** Rows may be replaced; their number is public. *)
Theorem sum_release_private_change_one (d : nat) v w :
  g * IZR (ceil ((hi - lo) / g)) / eps <= lam ->
  change_one v w (INR d) -> dp (eps * INR d) (sum_release v) (sum_release w).
Proof.
  intros HL Hd.
  apply dp_weaken with (g * IZR (ceil ((hi - lo) / g)) * INR d / lam).
  - apply push_summable, snap_summable; auto.
  - apply loss_scale; auto. apply pos_INR.
  - apply release_dp; auto. apply round_stable_at; auto.
    apply sum_stable_change_one; auto. intros z _. now apply clamp_range.
Qed.
End SumRelease.

(** A histogram of noisy counts. *)
Section HistogramRelease.
Context {A B : Type} (bin : A -> B) (bins : list B).
Variables (grid lam eps : R) (lower upper : option R).
Hypothesis bins_distinct : NoDup bins.
Hypothesis grid_pos : 0 < grid.
Hypothesis eps_pos : 0 < eps.
Hypothesis lam_pos : 0 < lam.

Definition histogram_release (v : list A) : list R -> R :=
  release_vector lam grid lower upper (histogram bin bins v).

Lemma l1_same x y : l1 x y = l1_distance x y.
Proof. revert y. induction x; intros [|b y]; simpl; try reflexivity; f_equal; auto. Qed.

Theorem histogram_release_private d v w : 1 / eps <= lam -> dsym v w <= d ->
  dp (eps * d) (histogram_release v) (histogram_release w).
Proof.
  intros HL Hd. assert (0 <= d) by (generalize (dsym_nonneg v w); lra).
  apply dp_weaken with (l1 (histogram bin bins v) (histogram bin bins w) / lam).
  - apply law_summable, release_vector_law; auto.
  - apply Rle_trans with (1 * d / lam); [|now apply loss_scale].
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    rewrite l1_same. generalize (histogram_stable bin bins v w bins_distinct). lra.
  - apply release_vector_dp; auto; unfold histogram; now rewrite !map_length.
Qed.
End HistogramRelease.

(** ** Steps: datasets at distance n + 1 have a third at distance 1 from one and n from the other. *)
Lemma hist_cons {A} (z : A) v x : hist (z :: v) x = ind (z = x) + hist v x.
Proof. reflexivity. Qed.

Lemma dsym_hist {A} (v v' w : list A) : (forall z, hist v z = hist v' z) -> dsym v w = dsym v' w.
Proof.
  intro H. set (D := dedup (v ++ v' ++ w)).
  rewrite (dsym_over v w D), (dsym_over v' w D).
  - apply sumf_eq. intros z _. now rewrite H.
  - apply dedup_NoDup.
  - intros z Hz. apply dedup_In. rewrite !in_app_iff in *. tauto.
  - apply dedup_NoDup.
  - intros z Hz. apply dedup_In. rewrite !in_app_iff in *. tauto.
Qed.

Lemma hist_in {A} (v : list A) z : 0 < hist v z -> In z v.
Proof. intro H. destruct (decide (In z v)) as [h|h]; auto. rewrite hist_out in H by auto. lra. Qed.

Lemma hist_gap_1 {A} (v w : list A) z : hist w z < hist v z -> hist w z + 1 <= hist v z.
Proof.
  rewrite !hist_count. intro H. apply INR_lt in H. rewrite <- S_INR. apply le_INR. lia.
Qed.

(** One row more than needed is one step too far. *)
Lemma dsym_cons {A} (z : A) v w : hist v z < hist w z -> dsym (z :: v) w = dsym v w - 1.
Proof.
  intro H. set (D := dedup (z :: v ++ w)).
  assert (NoDup D) as HD by apply dedup_NoDup.
  assert (In z D) as Hz by (apply dedup_In; simpl; auto).
  rewrite (dsym_over (z :: v) w D), (dsym_over v w D); auto.
  - assert (sumf (fun x => Rabs (hist (z :: v) x - hist w x)) D
            = sumf (fun x => Rabs (hist v x - hist w x) + -1 * (ind (z = x) * 1)) D) as ->.
    { apply sumf_eq. intros x _. rewrite hist_cons. destruct (decide (z = x)) as [<-|h].
      - rewrite ind_true by auto. generalize (hist_gap_1 w v z H). intro.
        rewrite !Rabs_left1 by lra. lra.
      - rewrite ind_false by auto. replace (0 + hist v x - hist w x) with (hist v x - hist w x) by ring. lra. }
    rewrite sumf_plus, sumf_scal, (sumf_pick (fun _ => 1)); auto. lra.
  - intros x Hx. apply dedup_In. simpl. right. exact Hx.
  - intros x Hx. apply dedup_In. exact Hx.
Qed.

Lemma dsym_add {A} (z : A) v : dsym v (z :: v) = 1.
Proof.
  rewrite dsym_sym.
  assert (dsym (z :: v) (z :: v) = dsym v (z :: v) - 1) as H.
  { apply dsym_cons. rewrite hist_cons, ind_true; auto. lra. }
  assert (forall u : list A, dsym u u = 0) as H0.
  { intro u. unfold dsym. rewrite (sumf_eq _ (fun _ => 0)), sumf_0; auto.
    intros x _. rewrite Rminus_diag_eq, Rabs_R0; auto. }
  rewrite H0 in H. rewrite dsym_sym. lra.
Qed.

Theorem dsym_step {A} (v w : list A) : 0 < dsym v w ->
  exists u, dsym v u = 1 /\ dsym u w = dsym v w - 1.
Proof.
  intro H.
  assert (exists z, hist v z <> hist w z) as [z Hz].
  { apply Classical_Prop.NNPP. intro Hn. revert H. apply Rle_not_lt.
    unfold dsym. rewrite (sumf_eq _ (fun _ => 0)), sumf_0; [lra|].
    intros x _. destruct (Req_dec (hist v x) (hist w x)) as [E|E]; [rewrite E, Rminus_diag_eq, Rabs_R0; auto|].
    exfalso. apply Hn. now exists x. }
  destruct (Rtotal_order (hist v z) (hist w z)) as [h|[h|h]]; [|contradiction|].
  - exists (z :: v). split; [apply dsym_add|now apply dsym_cons].
  - assert (In z v) as Hi.
    { apply hist_in. apply Rle_lt_trans with (2 := h). rewrite hist_count. apply pos_INR. }
    destruct (in_split _ _ Hi) as (a & b & ->). exists (a ++ b).
    assert (Permutation (a ++ z :: b) (z :: a ++ b)) as HP by (apply Permutation_sym, Permutation_middle).
    assert (forall u, dsym (a ++ z :: b) u = dsym (z :: a ++ b) u) as E.
    { intro u. apply dsym_hist, hist_perm, HP. }
    split.
    + rewrite E, dsym_sym. apply dsym_add.
    + rewrite E, (dsym_sym (z :: a ++ b) w).
      assert (hist w z < hist (z :: a ++ b) z) as h' by (rewrite <- (hist_perm _ _ HP); exact h).
      assert (hist w z + 1 <= hist (a ++ b) z + 1) as h2.
      { generalize (hist_gap_1 _ _ _ h'). rewrite hist_cons, ind_true by auto. lra. }
      (* adding z to a ++ b moves away from w *)
      set (D := dedup (z :: (a ++ b) ++ w)).
      assert (NoDup D) as HD by apply dedup_NoDup.
      assert (In z D) as HzD by (apply dedup_In; simpl; auto).
      rewrite (dsym_sym w), (dsym_over (z :: a ++ b) w D), (dsym_over (a ++ b) w D); auto.
      * assert (sumf (fun x => Rabs (hist (z :: a ++ b) x - hist w x)) D
            = sumf (fun x => Rabs (hist (a ++ b) x - hist w x) + 1 * (ind (z = x) * 1)) D) as ->.
        { apply sumf_eq. intros x _. rewrite hist_cons. destruct (decide (z = x)) as [<-|h0].
          - rewrite ind_true by auto. rewrite !Rabs_right by lra. lra.
          - rewrite ind_false by auto.
            replace (0 + hist (a ++ b) x - hist w x) with (hist (a ++ b) x - hist w x) by ring. lra. }
        rewrite sumf_plus, sumf_scal, (sumf_pick (fun _ => 1)); auto. lra.
      * intros x Hx. apply dedup_In. simpl. auto.
      * intros x Hx. apply dedup_In. exact Hx.
Qed.

(** Group privacy: what is private for one row is private for d rows, d times as costly.
    At distance 0 the output must have the same law: mechanisms are functions of the multiset (Lemma 3). *)
Definition of_multiset {A B} (M : list A -> B -> R) : Prop :=
  forall v w, (forall z, hist v z = hist w z) -> forall y, M v y = M w y.

Theorem group_privacy {A B} (M : list A -> B -> R) eps :
  0 <= eps -> (forall v, law (M v)) -> of_multiset M ->
  (forall v w, dsym v w <= 1 -> dp eps (M v) (M w)) ->
  forall (d : nat) v w, dsym v w <= INR d -> dp (eps * INR d) (M v) (M w).
Proof.
  intros He HM Hf H.
  assert (forall e v w, 0 <= e -> dsym v w <= 0 -> dp e (M v) (M w)) as H0.
  { intros e v w He' Hd. apply dp_weaken with 0; auto; [now apply law_summable|].
    apply dp_pointwise; try now apply law_summable. intro y. rewrite exp_0, (Hf v w); [lra|].
    intro z. destruct (Req_dec (hist v z) (hist w z)) as [E|E]; auto. exfalso.
    assert (In z (dedup (v ++ w))) as Hz.
    { apply dedup_In. destruct (decide (In z (v ++ w))) as [h|h]; auto. exfalso. apply E.
      rewrite in_app_iff in h. rewrite !hist_out by tauto. reflexivity. }
    assert (sumf (fun x => Rabs (hist v x - hist w x)) [z] <= dsym v w) as HU.
    { apply sumf_incl; [intro; apply Rabs_pos|repeat constructor; simpl; tauto|].
      intros x [<-|[]]. exact Hz. }
    simpl in HU. assert (0 < Rabs (hist v z - hist w z)) by (apply Rabs_pos_lt; lra). lra. }
  intro d. induction d as [|d IH]; intros v w Hd.
  - simpl in *. apply H0; lra.
  - destruct (Rle_or_lt (dsym v w) 0) as [h|h].
    + apply H0; auto. apply Rmult_le_pos; auto. apply pos_INR.
    + destruct (dsym_step v w h) as (u & H1 & H2). rewrite S_INR in *.
      replace (eps * (INR d + 1)) with (eps + eps * INR d) by ring.
      apply dp_trans with (M u); [apply H; lra|apply IH; lra].
Qed.

(** ** Parallel composition: parts of disjoint rows cost as much as the dearest of them. *)
Section Parallel.
Context {A B : Type} (part : A -> nat) (k : nat) (M : nat -> list A -> B -> R) (eps : R).
Definition rows_of (i : nat) (v : list A) : list A := filter (fun x => Nat.eqb (part x) i) v.
Definition parallel (v : list A) : list B -> R := joint (map (fun i => M i (rows_of i v)) (List.seq 0 k)).

Theorem parallel_private d v w : 0 <= eps -> (forall i v, law (M i v)) ->
  (forall i v w, dp (eps * dsym v w) (M i v) (M i w)) ->
  dsym v w <= d -> dp (eps * d) (parallel v) (parallel w).
Proof.
  intros He HM Hp Hd.
  apply dp_weaken with (losses (map (fun i => eps * dsym (rows_of i v) (rows_of i w)) (List.seq 0 k))).
  - apply law_summable, joint_law. intros p Hi. apply in_map_iff in Hi. destruct Hi as (i & <- & _). auto.
  - apply Rle_trans with (eps * dsym v w); [|now apply Rmult_le_compat_l].
    generalize (parts_stable part k v w). intro HS. fold (rows_of) in HS.
    assert (losses (map (fun i => eps * dsym (rows_of i v) (rows_of i w)) (List.seq 0 k))
            = eps * sumf (fun i => dsym (rows_of i v) (rows_of i w)) (List.seq 0 k)) as ->.
    { rewrite <- sumf_scal. generalize (List.seq 0 k). induction l; simpl; auto. now rewrite IHl. }
    apply Rmult_le_compat_l; auto.
  - apply joint_dp.
    + intros p Hi. apply in_map_iff in Hi. destruct Hi as (i & <- & _). auto.
    + intros p Hi. apply in_map_iff in Hi. destruct Hi as (i & <- & _). auto.
    + induction (List.seq 0 k) as [|i l IH]; simpl; constructor; [apply Hp|exact IH].
    + apply eq_trans with (length (List.seq 0 k)); [|symmetry]; apply map_length.
Qed.
End Parallel.
