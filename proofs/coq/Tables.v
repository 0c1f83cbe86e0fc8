(** Closed forms of the law and of the probability of a large error, for the tables tests/data/law.csv, miss.csv and bias.csv: a row
    is a theorem by interval arithmetic (tools/check-coq tables). *)
From Coq Require Import Reals ZArith List Lra Lia Permutation.
Import ListNotations.
From Coquelicot Require Import Rbar.
From SnapDP Require Import Law Rounding Laplace Snapping.
Open Scope R_scope.

(** The mean of a law whose whole mass lies on finitely many numbers. *)
Definition finite_mean (p : R -> R) (mean : R) : Prop :=
  exists outputs, NoDup outputs /\ sumf p outputs = 1 /\ mean = sumf (fun output => p output * output) outputs.

Lemma nothing_outside (p : R -> R) outputs a : law p -> NoDup outputs -> sumf p outputs = 1 -> ~ In a outputs -> p a = 0.
Proof.
  intros [Hp Hsum] Hl H1 Ha. specialize (Hsum (a :: outputs) ltac:(now constructor)). simpl in Hsum. generalize (Hp a). lra.
Qed.

(** There is one mean at most. *)
Theorem finite_mean_unique p mean mean' : law p -> finite_mean p mean -> finite_mean p mean' -> mean = mean'.
Proof.
  intros Hp (outputs & Hl & H1 & ->) (outputs' & Hl' & H1' & ->).
  assert (forall l l', NoDup l -> NoDup l' -> sumf p l' = 1 ->
    exists both, NoDup both /\ (forall a, In a both <-> In a l /\ In a l') /\
    sumf (fun a => p a * a) l = sumf (fun a => p a * a) both) as H.
  { intros l l' Nl Nl' E. destruct (split_list (fun a => In a l') l Nl) as (both & outside & Hboth & _ & Hperm & Hin & Hout).
    exists both. split; auto. split.
    - intro a. split; [intro Ha; split; auto; apply (Permutation_in _ (Permutation_sym Hperm)), in_or_app; now left|].
      intros [Ha Ha']. apply (Permutation_in _ Hperm), in_app_or in Ha. destruct Ha as [Ha|Ha]; auto. exfalso. now apply (Hout a).
    - rewrite (sumf_perm _ _ _ Hperm), sumf_app.
      rewrite (sumf_eq _ (fun _ => 0) outside).
      + assert (sumf (fun _ : R => 0) outside = 0) as -> by (clear; induction outside; simpl; lra). ring.
      + intros a Ha. rewrite (nothing_outside p l' a); auto. ring. }
  destruct (H outputs outputs' Hl Hl' H1') as (both & Nb & Hb & ->). destruct (H outputs' outputs Hl' Hl H1) as (both' & Nb' & Hb' & ->).
  apply sumf_perm, NoDup_Permutation; auto. intro a. rewrite Hb, Hb'. tauto.
Qed.

Section Tables.
Variables scale grid value : R.
Hypothesis scale_positive : 0 < scale.
Hypothesis grid_positive : 0 < grid.

Lemma multiple_le a b : (a <= b)%Z -> grid * IZR a <= grid * IZR b.
Proof. intro H. apply Rmult_le_compat_l; [lra|now apply IZR_le]. Qed.

(** Outputs between the bounds, and the bounds, which need not be on the grid. *)
Section Bounds.
Variables lower upper : R.
Hypothesis value_inside : lower <= value <= upper.

Lemma value_stays : clamp_between (Some lower) (Some upper) value = value.
Proof. rewrite clamp_between_both. now apply clamp_id. Qed.

Theorem law_of_cell k : lower < grid * IZR k < upper ->
  release scale grid (Some lower) (Some upper) value (grid * IZR k)
  = cdf scale ((IZR k + / 2) * grid - value) - cdf scale ((IZR k - / 2) * grid - value).
Proof.
  intro H. pose proof (snap_summable scale grid scale_positive grid_positive value) as HS.
  rewrite <- edge_next. fold (edge grid k). rewrite <- snap_law_cdf, <- (Pr_single (snap_law scale grid value) k HS).
  unfold release, push. rewrite value_stays. apply Pr_ext; auto. intro j. rewrite clamp_between_both.
  destruct (Ztrichotomy j k) as [Hj|[Hj|Hj]].
  - split; [|lia]. assert (grid * IZR j < grid * IZR k) by (apply Rmult_lt_compat_l; auto; now apply IZR_lt).
    unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
  - subst j. split; auto. intros _. apply clamp_id. lra.
  - split; [|lia]. assert (grid * IZR k < grid * IZR j) by (apply Rmult_lt_compat_l; auto; apply IZR_lt; lia).
    unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
Qed.

Corollary law_of_output output k : output = grid * IZR k -> lower < output < upper ->
  release scale grid (Some lower) (Some upper) value output
  = cdf scale ((IZR k + / 2) * grid - value) - cdf scale ((IZR k - / 2) * grid - value).
Proof. intros ->. apply law_of_cell. Qed.

Theorem law_of_upper k : lower < upper -> grid * IZR (k - 1) < upper <= grid * IZR k ->
  release scale grid (Some lower) (Some upper) value upper = 1 - cdf scale ((IZR k - / 2) * grid - value).
Proof.
  intros Hb H. pose proof (snap_summable scale grid scale_positive grid_positive value) as HS.
  fold (edge grid k). change (1 - cdf scale (edge grid k - value)) with (prob scale value (edge grid k) p_infty).
  rewrite <- (snap_upper scale grid scale_positive grid_positive value k).
  unfold release, push. rewrite value_stays. apply Pr_ext; auto. intro j. rewrite clamp_between_both.
  destruct (Z_le_gt_dec k j) as [h|h].
  - generalize (multiple_le k j h). split; auto. intros _. unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
  - generalize (multiple_le j (k - 1) ltac:(lia)). split; [|lia]. unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
Qed.

Theorem law_of_lower k : lower < upper -> grid * IZR k <= lower < grid * IZR (k + 1) ->
  release scale grid (Some lower) (Some upper) value lower = cdf scale ((IZR k + / 2) * grid - value).
Proof.
  intros Hb H. pose proof (snap_summable scale grid scale_positive grid_positive value) as HS.
  rewrite <- edge_next.
  replace (cdf scale (edge grid (k + 1) - value)) with (prob scale value m_infty (edge grid (k + 1))) by (unfold prob; simpl; unfold Rminus; ring).
  rewrite <- (snap_lower scale grid scale_positive grid_positive value k).
  unfold release, push. rewrite value_stays. apply Pr_ext; auto. intro j. rewrite clamp_between_both.
  destruct (Z_le_gt_dec j k) as [h|h].
  - generalize (multiple_le j k h). split; auto. intros _. unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
  - generalize (multiple_le (k + 1) j ltac:(lia)). split; [|lia]. unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
Qed.

(** The mean, cell by cell: [count] multiples of the grid from that of [first] on lie between the bounds. *)
Definition below_cell (k : Z) : R := cdf scale ((IZR k - / 2) * grid - value).

Theorem mean_of_release first count : lower < upper ->
  grid * IZR (first - 1) <= lower < grid * IZR first ->
  grid * IZR (first + Z.of_nat count - 1) < upper <= grid * IZR (first + Z.of_nat count) ->
  finite_mean (release scale grid (Some lower) (Some upper) value)
    (below_cell first * lower
     + (sumf (fun k => (below_cell (k + 1) - below_cell k) * (grid * IZR k)) (zrange first count)
        + (1 - below_cell (first + Z.of_nat count)) * upper)).
Proof.
  intros Hb Hfirst Hlast. set (law_of := release scale grid (Some lower) (Some upper) value).
  assert (forall k, In k (zrange first count) -> lower < grid * IZR k < upper) as Hinside.
  { intros k Hk. apply in_zrange in Hk. generalize (multiple_le first k ltac:(lia)) (multiple_le k (first + Z.of_nat count - 1) ltac:(lia)). lra. }
  assert (law_of lower = below_cell first) as Elower.
  { unfold law_of. rewrite (law_of_lower (first - 1)); [|auto|now replace (first - 1 + 1)%Z with first by ring].
    unfold below_cell. rewrite minus_IZR. do 3 f_equal. lra. }
  assert (law_of upper = 1 - below_cell (first + Z.of_nat count)) as Eupper.
  { exact (law_of_upper _ Hb Hlast). }
  assert (forall k, In k (zrange first count) -> law_of (grid * IZR k) = below_cell (k + 1) - below_cell k) as Ecell.
  { intros k Hk. unfold law_of. rewrite (law_of_cell k) by now apply Hinside.
    unfold below_cell. rewrite plus_IZR. do 3 f_equal. lra. }
  exists (lower :: map (fun k => grid * IZR k) (zrange first count) ++ [upper]). split; [|split].
  - constructor.
    + rewrite in_app_iff, in_map_iff. intros [(k & E & Hk)|[E|[]]]; [|lra]. generalize (Hinside k Hk). lra.
    + apply (Permutation_NoDup (Permutation_cons_append _ _)). constructor.
      * rewrite in_map_iff. intros (k & E & Hk). generalize (Hinside k Hk). lra.
      * apply FinFun.Injective_map_NoDup; [|apply zrange_NoDup]. intros i j E. apply Rmult_eq_reg_l in E; [|lra]. now apply eq_IZR.
  - simpl sumf. rewrite sumf_app, sumf_map. simpl sumf.
    rewrite (sumf_eq _ (fun k => below_cell (k + 1) - below_cell k)) by exact Ecell.
    rewrite (sumf_telescope below_cell), Elower, Eupper. ring.
  - simpl sumf. rewrite sumf_app, sumf_map. simpl sumf. rewrite Elower, Eupper.
    rewrite (sumf_eq (fun k => law_of (grid * IZR k) * (grid * IZR k)) (fun k => (below_cell (k + 1) - below_cell k) * (grid * IZR k))).
    + ring.
    + intros k Hk. now rewrite Ecell.
Qed.

Lemma sum_by_parts (weight : Z -> R) first rest :
  sumf (fun k => (weight (k + 1)%Z - weight k) * (grid * IZR k)) (zrange first (S rest))
  = weight (first + Z.of_nat (S rest))%Z * (grid * IZR (first + Z.of_nat rest)) - weight first * (grid * IZR first)
    - grid * sumf weight (zrange (first + 1) rest).
Proof.
  revert first. induction rest as [|rest IH]; intro first.
  - simpl. replace (first + 0)%Z with first by ring. ring.
  - transitivity ((weight (first + 1)%Z - weight first) * (grid * IZR first)
      + sumf (fun k => (weight (k + 1)%Z - weight k) * (grid * IZR k)) (zrange (first + 1) (S rest))); [reflexivity|]. rewrite IH.
    change (sumf weight (zrange (first + 1) (S rest))) with (weight (first + 1)%Z + sumf weight (zrange (first + 1 + 1) rest)).
    replace (first + 1 + Z.of_nat (S rest))%Z with (first + Z.of_nat (S (S rest)))%Z by lia.
    replace (first + 1 + Z.of_nat rest)%Z with (first + Z.of_nat (S rest))%Z by lia. rewrite (plus_IZR first 1). ring.
Qed.

(** The same with each probability once. *)
Corollary mean_by_parts first rest : lower < upper ->
  grid * IZR (first - 1) <= lower < grid * IZR first ->
  grid * IZR (first + Z.of_nat rest) < upper <= grid * IZR (first + Z.of_nat (S rest)) ->
  finite_mean (release scale grid (Some lower) (Some upper) value)
    (upper - (grid * IZR first - lower) * below_cell first - grid * sumf below_cell (zrange (first + 1) rest)
     - (upper - grid * IZR (first + Z.of_nat rest)) * below_cell (first + Z.of_nat (S rest))).
Proof.
  intros Hb Hfirst Hlast.
  destruct (mean_of_release first (S rest) Hb Hfirst) as (outputs & Hnodup & Hmass & E).
  { now replace (first + Z.of_nat (S rest) - 1)%Z with (first + Z.of_nat rest)%Z by lia. }
  exists outputs. split; [|split]; auto. rewrite <- E, sum_by_parts. ring.
Qed.
End Bounds.

(** The probability that the output is farther than [error] from the value, without bounds: above is the first multiple
    beyond, below the last. *)
Definition miss (error : R) : R := Pr (snap_law scale grid value) (fun k => error < Rabs (grid * IZR k - value)).

Theorem miss_is error above below : 0 <= error ->
  grid * IZR (above - 1) <= value + error < grid * IZR above ->
  grid * IZR below < value - error <= grid * IZR (below + 1) ->
  miss error = 1 - cdf scale ((IZR above - / 2) * grid - value) + cdf scale ((IZR below + / 2) * grid - value).
Proof.
  intros He Ha Hb. pose proof (snap_summable scale grid scale_positive grid_positive value) as HS.
  rewrite <- edge_next. fold (edge grid above).
  replace (1 - cdf scale (edge grid above - value) + cdf scale (edge grid (below + 1) - value))
    with (prob scale value (edge grid above) p_infty + prob scale value m_infty (edge grid (below + 1)))
    by (unfold prob; simpl; unfold Rminus; ring).
  rewrite <- (snap_upper scale grid scale_positive grid_positive value above),
    <- (snap_lower scale grid scale_positive grid_positive value below).
  assert (below < above)%Z as Hlt.
  { apply lt_IZR. apply Rmult_lt_reg_l with grid; auto. lra. }
  unfold miss. rewrite <- Pr_union; auto; [|intro j; lia].
  apply Pr_ext; auto. intro j. split.
  - intro H. destruct (Z_le_gt_dec above j) as [h|h]; [now left|right].
    destruct (Z_le_gt_dec j below) as [h'|h']; auto. exfalso.
    generalize (multiple_le j (above - 1) ltac:(lia)) (multiple_le (below + 1) j ltac:(lia)).
    unfold Rabs in H. destruct Rcase_abs in H; lra.
  - intros [h|h].
    + generalize (multiple_le above j h). unfold Rabs. destruct Rcase_abs; lra.
    + generalize (multiple_le j below h). unfold Rabs. destruct Rcase_abs; lra.
Qed.
End Tables.
