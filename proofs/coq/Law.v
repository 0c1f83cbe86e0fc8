(** Discrete laws on any type, probabilities of arbitrary sets of outputs, and
    differential privacy of such laws.

    A law is a non-negative function p with all finite sums at most 1 (a
    sub-distribution; [total] says that it is a distribution).  The probability
    of a set S is the least upper bound of the finite sums over S, so no
    enumeration of the outputs is needed and S is any predicate. *)
From Coq Require Import Reals List Lra Lia Classical Permutation.
From Coquelicot Require Import Lub Rbar.
Import ListNotations.
Open Scope R_scope.

Definition decide (P : Prop) : {P} + {~ P} :=
  match ClassicalDedekindReals.sig_not_dec P with
  | left h => left (NNPP P h)
  | right h => right h
  end.

Definition ind (P : Prop) : R := if decide P then 1 else 0.

Lemma ind_true (P : Prop) : P -> ind P = 1.
Proof. intro h. unfold ind. destruct (decide P); tauto. Qed.
Lemma ind_false (P : Prop) : ~ P -> ind P = 0.
Proof. intro h. unfold ind. destruct (decide P); tauto. Qed.

Section Sums.
Context {A : Type}.
Implicit Types (p q : A -> R) (l : list A) (S T : A -> Prop).

Fixpoint sumf p l : R := match l with [] => 0 | a :: l => p a + sumf p l end.

Lemma sumf_app p l1 l2 : sumf p (l1 ++ l2) = sumf p l1 + sumf p l2.
Proof. induction l1; simpl; lra. Qed.

Lemma sumf_perm p l1 l2 : Permutation l1 l2 -> sumf p l1 = sumf p l2.
Proof. induction 1; simpl; lra. Qed.

Lemma sumf_le p q l : (forall a, In a l -> p a <= q a) -> sumf p l <= sumf q l.
Proof.
  induction l as [|a l IH]; simpl; intro H; [lra|].
  assert (p a <= q a) by auto. assert (sumf p l <= sumf q l) by auto. lra.
Qed.

Lemma sumf_eq p q l : (forall a, In a l -> p a = q a) -> sumf p l = sumf q l.
Proof. intro H. apply Rle_antisym; apply sumf_le; intros; rewrite H; auto; lra. Qed.

Lemma sumf_scal c p l : sumf (fun a => c * p a) l = c * sumf p l.
Proof. induction l; simpl; lra. Qed.

Lemma sumf_plus p q l : sumf (fun a => p a + q a) l = sumf p l + sumf q l.
Proof. induction l; simpl; lra. Qed.

Lemma sumf_0 l : sumf (fun _ : A => 0) l = 0.
Proof. induction l; simpl; lra. Qed.

Lemma sumf_nonneg p l : (forall a, In a l -> 0 <= p a) -> 0 <= sumf p l.
Proof. intro H. rewrite <- (sumf_0 l). now apply sumf_le. Qed.

(** Splitting a finite list by a set. *)
Lemma split_list S l : NoDup l ->
  exists l1 l2, NoDup l1 /\ NoDup l2 /\ Permutation l (l1 ++ l2) /\
    (forall a, In a l1 -> S a) /\ (forall a, In a l2 -> ~ S a).
Proof.
  induction 1 as [|a l Ha Hl IH].
  - exists [], []. simpl. repeat split; try constructor; tauto.
  - destruct IH as (l1 & l2 & H1 & H2 & HP & HS & HN).
    assert (~ In a l1 /\ ~ In a l2) as [Ha1 Ha2].
    { split; intro; apply Ha; eapply Permutation_in;
        [apply Permutation_sym; exact HP| |apply Permutation_sym; exact HP|]; apply in_or_app; tauto. }
    destruct (classic (S a)) as [h|h].
    + exists (a :: l1), l2. repeat split; auto.
      * constructor; auto.
      * simpl. now constructor.
      * simpl. intros b [<-|Hb]; auto.
    + exists l1, (a :: l2). repeat split; auto.
      * constructor; auto.
      * eapply perm_trans; [apply perm_skip, HP|apply Permutation_middle].
      * simpl. intros b [<-|Hb]; auto.
Qed.

Lemma sumf_incl p l1 l2 : (forall a, 0 <= p a) -> NoDup l1 -> incl l1 l2 -> sumf p l1 <= sumf p l2.
Proof.
  intros Hp H1. revert l2. induction H1 as [|a l Ha Hl IH]; intros l2 Hi.
  - simpl. apply sumf_nonneg; auto.
  - destruct (in_split a l2) as (u & v & ->); [apply Hi; simpl; auto|].
    rewrite sumf_app. simpl.
    assert (sumf p l <= sumf p (u ++ v)).
    { apply IH. intros b Hb. assert (In b (u ++ a :: v)) as H by (apply Hi; simpl; auto).
      apply in_app_or in H. apply in_or_app. destruct H as [H|[H|H]]; auto. subst. contradiction. }
    rewrite sumf_app in H. lra.
Qed.
End Sums.

Lemma sumf_map {A B} (f : A -> B) (p : B -> R) l : sumf p (map f l) = sumf (fun a => p (f a)) l.
Proof. induction l; simpl; congruence. Qed.

(** Probability of a set. *)
Definition sums {A} (p : A -> R) (S : A -> Prop) (x : R) : Prop :=
  exists l, NoDup l /\ (forall a, In a l -> S a) /\ x = sumf p l.

Definition Pr {A} (p : A -> R) (S : A -> Prop) : R := real (Lub_Rbar (sums p S)).

Definition law {A} (p : A -> R) : Prop :=
  (forall a, 0 <= p a) /\ (forall l, NoDup l -> sumf p l <= 1).

Definition total {A} (p : A -> R) : Prop := law p /\ Pr p (fun _ => True) = 1.

(** A weaker condition under which probabilities make sense. *)
Definition summable {A} (p : A -> R) : Prop :=
  (forall a, 0 <= p a) /\ (exists M, forall l, NoDup l -> sumf p l <= M).

Lemma law_summable {A} (p : A -> R) : law p -> summable p.
Proof. intros [H1 H2]. split; auto. now exists 1. Qed.

Section Probability.
Context {A : Type}.
Implicit Types (p q : A -> R) (l : list A) (S T : A -> Prop).

Lemma Pr_is_lub p S : summable p -> is_lub (sums p S) (Pr p S).
Proof.
  intros [Hp [M HM]].
  assert (Hb : is_ub_Rbar (sums p S) M).
  { intros x (l & Hl & _ & ->). simpl. now apply HM. }
  destruct (Lub_Rbar_correct (sums p S)) as [Hub Hl].
  assert (H0 : Rbar_le 0 (Lub_Rbar (sums p S))).
  { apply Hub. exists []. repeat split; [constructor|simpl; tauto]. }
  unfold Pr. specialize (Hl M Hb) as HlM.
  destruct (Lub_Rbar (sums p S)) as [r| |] eqn:E; simpl in *; try tauto.
  split.
  - intros x Hx. exact (Hub x Hx).
  - intros b Hbb. apply (Hl (Finite b)). intros x Hx. simpl. now apply Hbb.
Qed.

Lemma Pr_ub p S l : summable p -> NoDup l -> (forall a, In a l -> S a) -> sumf p l <= Pr p S.
Proof. intros H Hl HS. apply (proj1 (Pr_is_lub p S H)). now exists l. Qed.

Lemma Pr_lub p S M : summable p ->
  (forall l, NoDup l -> (forall a, In a l -> S a) -> sumf p l <= M) -> Pr p S <= M.
Proof. intros H HM. apply (proj2 (Pr_is_lub p S H)). intros x (l & Hl & HS & ->). auto. Qed.

Lemma Pr_approx p S e : summable p -> 0 < e ->
  exists l, NoDup l /\ (forall a, In a l -> S a) /\ Pr p S - e < sumf p l.
Proof.
  intros H He. apply NNPP. intro Hn.
  assert (Pr p S <= Pr p S - e); [|lra].
  apply Pr_lub; auto. intros l Hl HS.
  destruct (Rle_or_lt (sumf p l) (Pr p S - e)); auto. exfalso. apply Hn. now exists l.
Qed.

Lemma Pr_nonneg p S : summable p -> 0 <= Pr p S.
Proof. intro H. apply (Pr_ub p S []); auto; [constructor|simpl; tauto]. Qed.

Lemma Pr_le_1 p S : law p -> Pr p S <= 1.
Proof. intro H. apply Pr_lub; [now apply law_summable|]. intros l Hl _. now apply (proj2 H). Qed.

Lemma Pr_ext p S T : summable p -> (forall a, S a <-> T a) -> Pr p S = Pr p T.
Proof.
  intros H E. apply Rle_antisym; apply Pr_lub; auto; intros l Hl HS; apply Pr_ub; auto;
    intros a Ha; apply E; auto.
Qed.

Lemma Pr_mono p S T : summable p -> (forall a, S a -> T a) -> Pr p S <= Pr p T.
Proof. intros H E. apply Pr_lub; auto. intros l Hl HS. apply Pr_ub; auto. Qed.

Lemma Pr_list p l : summable p -> NoDup l -> Pr p (fun a => In a l) = sumf p l.
Proof.
  intros H Hl. apply Rle_antisym; [|apply Pr_ub; auto].
  apply Pr_lub; auto. intros l' Hl' HS. apply sumf_incl; auto. apply H.
Qed.

Lemma Pr_single p a : summable p -> Pr p (fun b => b = a) = p a.
Proof.
  intro H. rewrite (Pr_ext p _ (fun b => In b [a])); auto.
  - rewrite Pr_list; auto; [simpl; lra|]. constructor; [simpl; tauto|constructor].
  - intro b. simpl. split; [intros ->; auto|intros [->|[]]; auto].
Qed.

Lemma Pr_none p S : summable p -> (forall a, ~ S a) -> Pr p S = 0.
Proof.
  intros H N. rewrite (Pr_ext p _ (fun b => In b [])); auto.
  - now rewrite Pr_list; [|auto|constructor].
  - simpl. intro a. specialize (N a). tauto.
Qed.

(** Additivity. *)
Lemma Pr_union p S T : summable p -> (forall a, S a -> T a -> False) ->
  Pr p (fun a => S a \/ T a) = Pr p S + Pr p T.
Proof.
  intros H D. apply Rle_antisym.
  - apply Pr_lub; auto. intros l Hl HS.
    destruct (split_list S l Hl) as (l1 & l2 & H1 & H2 & HP & HS1 & HS2).
    rewrite (sumf_perm p _ _ HP), sumf_app.
    assert (sumf p l1 <= Pr p S) by (apply Pr_ub; auto).
    assert (sumf p l2 <= Pr p T); [|lra].
    apply Pr_ub; auto. intros a Ha. specialize (HS2 a Ha).
    assert (In a l) as Hal.
    { eapply Permutation_in; [apply Permutation_sym, HP|]. apply in_or_app; auto. }
    specialize (HS a Hal). tauto.
  - apply Rnot_lt_le. intro Hlt.
    set (e := (Pr p S + Pr p T - Pr p (fun a => S a \/ T a)) / 2).
    assert (0 < e) as He by (unfold e; lra).
    destruct (Pr_approx p S e H He) as (l1 & Hl1 & HS1 & HA1).
    destruct (Pr_approx p T e H He) as (l2 & Hl2 & HS2 & HA2).
    assert (sumf p (l1 ++ l2) <= Pr p (fun a => S a \/ T a)) as HU.
    { apply Pr_ub; auto.
      - clear HA1 HA2. induction Hl1 as [|a l1 Ha1 Hl1 IH]; simpl; auto.
        constructor; [|apply IH; intros; apply HS1; simpl; auto].
        intro Hi. apply in_app_or in Hi. destruct Hi as [Hi|Hi]; auto.
        apply (D a); auto. apply HS1. simpl. auto.
      - intros a Ha. apply in_app_or in Ha. destruct Ha; auto. }
    rewrite sumf_app in HU. unfold e in *. lra.
Qed.

Lemma Pr_compl p S : total p -> Pr p (fun a => ~ S a) = 1 - Pr p S.
Proof.
  intros [H H1]. apply law_summable in H.
  assert (Pr p (fun a => S a \/ ~ S a) = Pr p S + Pr p (fun a => ~ S a)) as HU
    by (apply Pr_union; auto).
  rewrite (Pr_ext p _ (fun _ => True)), H1 in HU; [lra|auto|].
  intro a. split; auto. intros _. apply classic.
Qed.

(** ** Differential privacy *)
(** Event by event: for every set of outputs. *)
Definition adp (eps delta : R) p q : Prop := forall S, Pr p S <= exp eps * Pr q S + delta.
Definition dp (eps : R) p q : Prop := forall S, Pr p S <= exp eps * Pr q S.

Theorem dp_pointwise eps p q : summable p -> summable q ->
  dp eps p q <-> forall a, p a <= exp eps * q a.
Proof.
  intros Hp Hq. split; intro H.
  - intro a. specialize (H (fun b => b = a)). now rewrite !Pr_single in H.
  - intro S. apply Pr_lub; auto. intros l Hl HS.
    apply Rle_trans with (sumf (fun a => exp eps * q a) l).
    + apply sumf_le. auto.
    + rewrite sumf_scal. apply Rmult_le_compat_l; [left; apply exp_pos|]. now apply Pr_ub.
Qed.

(** (eps, delta): the excess over all outputs is what counts. *)
Theorem adp_excess eps delta p q : summable p -> summable q ->
  adp eps delta p q <->
  forall l, NoDup l -> sumf (fun a => Rmax 0 (p a - exp eps * q a)) l <= delta.
Proof.
  intros Hp Hq. split; intro H.
  - intros l Hl.
    destruct (split_list (fun a => 0 <= p a - exp eps * q a) l Hl) as (l1 & l2 & H1 & H2 & HP & HS & HN).
    rewrite (sumf_perm _ _ _ HP), sumf_app.
    rewrite (sumf_eq _ (fun a => p a + - exp eps * q a) l1).
    2:{ intros a Ha. rewrite Rmax_right; [lra|]. now apply HS. }
    rewrite (sumf_eq _ (fun _ => 0) l2).
    2:{ intros a Ha. apply Rmax_left. specialize (HN a Ha). lra. }
    rewrite sumf_0, sumf_plus, sumf_scal.
    specialize (H (fun a => In a l1)). rewrite !Pr_list in H; auto. lra.
  - intro S. apply Pr_lub; auto. intros l Hl HS.
    apply Rle_trans with (sumf (fun a => Rmax 0 (p a - exp eps * q a) + exp eps * q a) l).
    + apply sumf_le. intros a _. generalize (Rmax_r 0 (p a - exp eps * q a)). lra.
    + rewrite sumf_plus, sumf_scal. specialize (H l Hl).
      assert (exp eps * sumf q l <= exp eps * Pr q S); [|lra].
      apply Rmult_le_compat_l; [left; apply exp_pos|]. now apply Pr_ub.
Qed.

Lemma dp_adp eps p q : dp eps p q <-> adp eps 0 p q.
Proof. split; intros H S; specialize (H S); lra. Qed.

Lemma dp_weaken e1 e2 p q : summable q -> e1 <= e2 -> dp e1 p q -> dp e2 p q.
Proof.
  intros Hq He H S. apply (Rle_trans _ _ _ (H S)).
  apply Rmult_le_compat_r; [now apply Pr_nonneg|].
  destruct He as [He| ->]; [left; now apply exp_increasing|lra].
Qed.

(** Loss adds up along a chain of datasets (group privacy). *)
Lemma dp_trans e1 e2 p q (r : A -> R) : dp e1 p q -> dp e2 q r -> dp (e1 + e2) p r.
Proof.
  intros H1 H2 S. rewrite exp_plus. apply (Rle_trans _ _ _ (H1 S)). rewrite Rmult_assoc.
  apply Rmult_le_compat_l; [left; apply exp_pos|apply H2].
Qed.
End Probability.

(** ** Post-processing *)
Definition push {A B} (f : A -> B) (p : A -> R) (b : B) : R := Pr p (fun a => f a = b).

Section Push.
Context {A B : Type} (f : A -> B).
Implicit Types p q : A -> R.

(** Finite sums of the image law are probabilities. *)
Lemma push_sum p l : summable p -> NoDup l -> sumf (push f p) l = Pr p (fun a => In (f a) l).
Proof.
  intros H Hl. induction Hl as [|b l Hb Hl IH].
  - simpl. symmetry. apply Pr_none; auto.
  - simpl sumf. rewrite IH. unfold push. rewrite <- Pr_union; auto.
    + apply Pr_ext; auto. intro a. simpl. intuition.
    + intros a <- Ha. contradiction.
Qed.

Lemma push_summable p : summable p -> summable (push f p).
Proof.
  intro H. split.
  - intro b. now apply Pr_nonneg.
  - exists (Pr p (fun _ => True)). intros l Hl. rewrite push_sum; auto. now apply Pr_mono.
Qed.

Lemma push_law p : law p -> law (push f p).
Proof.
  intro H. pose proof (law_summable p H). split.
  - intro b. now apply Pr_nonneg.
  - intros l Hl. rewrite push_sum; auto. now apply Pr_le_1.
Qed.

Theorem Pr_push p T : summable p -> Pr (push f p) T = Pr p (fun a => T (f a)).
Proof.
  intro H. pose proof (push_summable p H) as H'. apply Rle_antisym.
  - apply Pr_lub; auto. intros l Hl HT. rewrite push_sum; auto. apply Pr_mono; auto.
  - apply Pr_lub; auto. intros l Hl HT.
    assert (exists k, NoDup k /\ (forall b, In b k <-> exists a, In a l /\ f a = b)) as (k & Hk & Hi).
    { clear Hl HT. induction l as [|a l (k & Hk & Hi)].
      - exists []. split; [constructor|]. simpl. firstorder.
      - destruct (classic (In (f a) k)) as [h|h].
        + exists k. split; auto. intro b. rewrite Hi. split.
          * intros (a' & Ha & <-). exists a'. simpl. auto.
          * intros (a' & [<-|Ha] & <-); [now apply Hi|]. now exists a'.
        + exists (f a :: k). split; [now constructor|]. intro b. simpl. rewrite Hi. split.
          * intros [<-|(a' & Ha & <-)]; [now exists a; auto|now exists a'; auto].
          * intros (a' & [<-|Ha] & <-); auto. right. now exists a'. }
    apply Rle_trans with (sumf (push f p) k).
    + rewrite push_sum; auto. apply Pr_ub; auto. intros a Ha. apply Hi. now exists a.
    + apply Pr_ub; auto. intros b Hb. apply Hi in Hb. destruct Hb as (a & Ha & <-). auto.
Qed.

Lemma push_total p : total p -> total (push f p).
Proof.
  intros [H H1]. split; [now apply push_law|]. rewrite Pr_push; [|now apply law_summable]. exact H1.
Qed.

(** What is computed from the output alone is as private as the output. *)
Theorem post_processing eps delta p q : summable p -> summable q ->
  adp eps delta p q -> adp eps delta (push f p) (push f q).
Proof. intros Hp Hq H T. rewrite !Pr_push; auto. Qed.

Theorem post_processing_dp eps p q : summable p -> summable q ->
  dp eps p q -> dp eps (push f p) (push f q).
Proof. intros Hp Hq H T. rewrite !Pr_push; auto. Qed.
End Push.

(** ** Sequential composition; the second law may depend on the first output. *)
Section Sequential.
Context {A B : Type}.

Definition seq (p : A -> R) (k : A -> B -> R) (ab : A * B) : R := p (fst ab) * k (fst ab) (snd ab).

Lemma seq_row (p : A -> R) (k : A -> B -> R) a l : (forall a, law (k a)) -> 0 <= p a -> NoDup l ->
  (forall ab, In ab l -> fst ab = a) -> sumf (seq p k) l <= p a.
Proof.
  intros Hk Hp Hl Ha.
  assert (sumf (seq p k) l = p a * sumf (k a) (map snd l)) as ->.
  { rewrite <- sumf_scal, sumf_map. apply sumf_eq. intros [a' b] H. unfold seq.
    specialize (Ha _ H). simpl in *. now subst. }
  rewrite <- (Rmult_1_r (p a)) at 2. apply Rmult_le_compat_l; auto. apply Hk.
  clear Hp. induction Hl as [|[a' b] l Hn Hl IH]; simpl; [constructor|].
  constructor; [|apply IH; intros; apply Ha; simpl; auto].
  intro Hb. apply in_map_iff in Hb. destruct Hb as ([a'' b'] & E & Hb). simpl in E. subst b'.
  assert (a'' = a) by (apply (Ha (a'', b)); simpl; auto).
  assert (a' = a) by (apply (Ha (a', b)); simpl; auto). subst. contradiction.
Qed.

Lemma seq_law (p : A -> R) (k : A -> B -> R) : law p -> (forall a, law (k a)) -> law (seq p k).
Proof.
  intros Hp Hk. split.
  - intros [a b]. apply Rmult_le_pos; [apply Hp|apply (Hk a)].
  - intros l Hl.
    assert (forall xs l, NoDup xs -> NoDup l -> (forall ab, In ab l -> In (fst ab) xs) ->
              sumf (seq p k) l <= sumf p xs) as Hx.
    { clear l Hl. induction xs as [|x xs IH]; intros l Hxs Hl Hin.
      - destruct l as [|ab l]; simpl; [lra|]. exfalso. apply (Hin ab). simpl; auto.
      - inversion_clear Hxs.
        destruct (split_list (fun ab => fst ab = x) l Hl) as (l1 & l2 & H1 & H2 & HP & HS & HN).
        rewrite (sumf_perm _ _ _ HP), sumf_app. simpl. apply Rplus_le_compat.
        + apply seq_row; auto. apply Hp.
        + apply IH; auto. intros ab Hab.
          assert (In ab l) as Hl'.
          { eapply Permutation_in; [apply Permutation_sym, HP|]. apply in_or_app; auto. }
          destruct (Hin ab Hl') as [E|E]; auto. exfalso. apply (HN ab); auto. }
    apply Rle_trans with (sumf p (nodup (fun x y => decide (x = y)) (map fst l))).
    + apply Hx; auto; [apply NoDup_nodup|]. intros ab Hab. apply nodup_In. now apply in_map.
    + apply Hp. apply NoDup_nodup.
Qed.

Theorem sequential e1 e2 (p q : A -> R) (k k' : A -> B -> R) :
  law p -> law q -> (forall a, law (k a)) -> (forall a, law (k' a)) ->
  dp e1 p q -> (forall a, dp e2 (k a) (k' a)) -> dp (e1 + e2) (seq p k) (seq q k').
Proof.
  intros Hp Hq Hk Hk' H1 H2.
  apply dp_pointwise; [apply law_summable, seq_law; auto|apply law_summable, seq_law; auto|].
  intros [a b]. unfold seq. simpl. rewrite exp_plus.
  replace (exp e1 * exp e2 * (q a * k' a b)) with ((exp e1 * q a) * (exp e2 * k' a b)) by ring.
  apply Rmult_le_compat; try apply Hp; try apply (Hk a).
  - apply dp_pointwise; auto using law_summable.
  - apply dp_pointwise; auto using law_summable.
Qed.
End Sequential.

(** The mass of a composed law is 1 where those of its parts are. *)
Lemma seq_total {A B} (p : A -> R) (k : A -> B -> R) :
  total p -> (forall a, total (k a)) -> total (seq p k).
Proof.
  intros [Hp Hp1] Hk.
  assert (law (seq p k)) as HL by (apply seq_law; auto; intro; apply Hk).
  pose proof (law_summable _ HL) as HS. split; auto.
  apply Rle_antisym; [now apply Pr_le_1|]. rewrite <- Hp1.
  assert (forall a, p a <= Pr (seq p k) (fun ab => fst ab = a)) as Hrow.
  { intro a. apply Rnot_lt_le. intro H. set (m := Pr _ _) in H.
    assert (0 <= m) as Hm by (apply Pr_nonneg; auto).
    destruct (Pr_approx (k a) (fun _ => True) ((p a - m) / p a)) as (l & Hl & _ & Ha).
    - apply law_summable, Hk.
    - apply Rdiv_lt_0_compat; lra.
    - rewrite (proj2 (Hk a)) in Ha.
      assert (sumf (seq p k) (map (fun b => (a, b)) l) <= m) as HU.
      { apply Pr_ub; auto.
        - clear Ha. induction Hl; simpl; constructor; auto. intro Hi. apply in_map_iff in Hi.
          destruct Hi as (b' & E & Hb). injection E as ->. contradiction.
        - intros ab Hab. apply in_map_iff in Hab. destruct Hab as (b & <- & _). reflexivity. }
      rewrite sumf_map in HU. unfold seq in HU. simpl in HU. rewrite sumf_scal in HU.
      apply (Rmult_lt_compat_l (p a)) in Ha; [|lra].
      replace (p a * (1 - (p a - m) / p a)) with m in Ha by (field; lra). lra. }
  apply Pr_lub; [now apply law_summable|]. intros l Hl _.
  apply Rle_trans with (Pr (seq p k) (fun ab => In (fst ab) l)); [|apply Pr_mono; auto].
  induction Hl as [|a l Ha Hl IH]; simpl sumf; [apply Pr_nonneg; auto|].
  rewrite (Pr_ext _ _ (fun ab => fst ab = a \/ In (fst ab) l)).
  - rewrite Pr_union; auto; [specialize (Hrow a); lra|]. intros ab <- H. contradiction.
  - auto.
  - intro ab. simpl. intuition.
Qed.

(** ** Any number of independent outputs. *)
Section Joint.
Context {B : Type}.

Fixpoint joint (ps : list (B -> R)) : list B -> R :=
  match ps with
  | [] => fun ys => ind (ys = [])
  | p :: ps => push (fun yy => fst yy :: snd yy) (seq p (fun _ => joint ps))
  end.

Lemma law_nil : law (fun ys : list B => ind (ys = [])).
Proof.
  split.
  - intro a. unfold ind. destruct decide; lra.
  - intros l Hl. destruct (decide (In ([] : list B) l)) as [h|h].
    + destruct (in_split _ _ h) as (u & v & ->). apply NoDup_remove in Hl. destruct Hl as [_ Hl].
      rewrite sumf_app. simpl sumf. rewrite ind_true by auto.
      rewrite (sumf_eq _ (fun _ => 0) u), (sumf_eq _ (fun _ => 0) v), !sumf_0; try lra;
        intros x Hx; apply ind_false; intros ->; apply Hl; apply in_or_app; auto.
    + rewrite (sumf_eq _ (fun _ => 0)), sumf_0; [lra|].
      intros x Hx. apply ind_false. intros ->. auto.
Qed.

Lemma joint_law ps : (forall p, In p ps -> law p) -> law (joint ps).
Proof.
  induction ps as [|p ps IH]; simpl; intro H; [apply law_nil|].
  apply push_law, seq_law; auto.
Qed.

Lemma total_nil : total (fun ys : list B => ind (ys = [])).
Proof.
  split; [apply law_nil|]. apply Rle_antisym; [apply Pr_le_1, law_nil|].
  replace 1 with (sumf (fun ys : list B => ind (ys = [])) [[]]) by (simpl; rewrite ind_true; auto; lra).
  apply Pr_ub; [apply law_summable, law_nil|repeat constructor; simpl; tauto|auto].
Qed.

Theorem joint_total ps : (forall p, In p ps -> total p) -> total (joint ps).
Proof.
  induction ps as [|p ps IH]; simpl; intro H; [apply total_nil|].
  apply push_total, seq_total; auto.
Qed.

(** What a joint law is: the product, on lists of the right length. *)
Fixpoint product (ps : list (B -> R)) (ys : list B) : R :=
  match ps, ys with [], [] => 1 | p :: ps, y :: ys => p y * product ps ys | _, _ => 0 end.

Theorem joint_is_product ps ys : (forall p, In p ps -> law p) -> joint ps ys = product ps ys.
Proof.
  revert ys. induction ps as [|p ps IH]; intros ys H.
  - simpl. destruct ys; [now rewrite ind_true|rewrite ind_false; auto; discriminate].
  - assert (law (joint ps)) as HJ by (apply joint_law; simpl in H; auto).
    assert (law (seq p (fun _ => joint ps))) as HS by (apply seq_law; auto; apply H; simpl; auto).
    simpl joint. unfold push. destruct ys as [|y ys].
    + simpl. apply Pr_none; [now apply law_summable|]. intros [a b]. simpl. discriminate.
    + simpl. rewrite <- IH by (simpl in H; auto).
      rewrite (Pr_ext _ _ (fun ab => ab = (y, ys))); [|now apply law_summable|].
      * rewrite Pr_single by now apply law_summable. reflexivity.
      * intros [a b]. simpl. split; intro E; injection E; intros; subst; auto.
Qed.

Fixpoint losses (ls : list R) : R := match ls with [] => 0 | l :: ls => l + losses ls end.

(** Losses add up: item i of both lists of laws is e_i-private. *)
Theorem joint_dp es ps qs : (forall p, In p ps -> law p) -> (forall q, In q qs -> law q) ->
  Forall2 (fun e pq => dp e (fst pq) (snd pq)) es (combine ps qs) -> length ps = length qs ->
  dp (losses es) (joint ps) (joint qs).
Proof.
  revert es qs. induction ps as [|p ps IH]; intros es [|q qs] Hp Hq H HL; simpl in *; try discriminate.
  - inversion_clear H. simpl. intro S. rewrite exp_0. lra.
  - inversion_clear H. simpl.
    assert (law (joint ps)) by (apply joint_law; auto).
    assert (law (joint qs)) by (apply joint_law; auto).
    apply post_processing_dp; try (apply law_summable, seq_law; auto).
    apply sequential; auto.
Qed.
End Joint.
