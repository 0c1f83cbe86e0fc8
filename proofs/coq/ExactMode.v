(** make_snapping, exact mode, with the parameters of the constructor: one theorem. *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core.
From SnapDP Require Import Law Rounding Snapping Sampler Mechanism Decide.
Open Scope R_scope.

(** Epsilon is a fraction, the sensitivity a dyadic; bounds and grid are the caller's or absent. *)
Record options := Options { num : Z; den : Z; sensitivity : dyadic; lower : option dyadic; upper : option dyadic;
  grid : option Z }.
Definition valid (o : options) : Prop := (0 < num o)%Z /\ (0 < den o)%Z /\ (0 < mant (sensitivity o))%Z.

Definition epsilon (o : options) : R := IZR (num o) / IZR (den o).
Definition noise_scale (o : options) : R := d2r (scale (num o) (den o) (sensitivity o)).
Definition step (o : options) : R := bpow radix2 (grid_exponent (grid o) (scale (num o) (den o) (sensitivity o))).

(** What is computed from a fair sign and a uniform real, and the law of it. *)
Definition snapping (o : options) : R -> bool -> R -> R :=
  run (noise_scale o) (step o) (real_bound (lower o)) (real_bound (upper o)).
Definition snapping_law (o : options) : R -> R -> R :=
  release (noise_scale o) (step o) (real_bound (lower o)) (real_bound (upper o)).
Definition snapping_vector_law (o : options) : list R -> list R -> R :=
  release_vector (noise_scale o) (step o) (real_bound (lower o)) (real_bound (upper o)).

Section Valid.
Variable o : options.
Hypothesis o_valid : valid o.

Lemma epsilon_positive : 0 < epsilon o.
Proof.
  destruct o_valid as (Hn & Hd & _). apply IZR_lt in Hn. apply IZR_lt in Hd.
  unfold epsilon. now apply Rdiv_lt_0_compat.
Qed.

Lemma sensitivity_positive : 0 < d2r (sensitivity o).
Proof.
  destruct o_valid as (_ & _ & Hs). apply IZR_lt in Hs.
  unfold d2r. apply Rmult_lt_0_compat; auto. apply bpow_gt_0.
Qed.

Lemma noise_scale_enough : d2r (sensitivity o) / epsilon o <= noise_scale o.
Proof. destruct o_valid as (Hn & Hd & Hs). now apply scale_is_enough. Qed.

Lemma noise_scale_positive : 0 < noise_scale o.
Proof.
  apply Rlt_le_trans with (2 := noise_scale_enough).
  apply Rdiv_lt_0_compat; [apply sensitivity_positive|apply epsilon_positive].
Qed.

Lemma step_positive : 0 < step o.
Proof. apply bpow_gt_0. Qed.

Lemma loss_at_distance distance : 0 <= distance ->
  d2r (sensitivity o) * distance / noise_scale o <= epsilon o * distance.
Proof.
  intro H. generalize epsilon_positive noise_scale_positive noise_scale_enough. intros He Hl HL.
  replace (d2r (sensitivity o) * distance / noise_scale o) with (d2r (sensitivity o) / noise_scale o * distance) by (field; lra).
  apply Rmult_le_compat_r; auto. apply Rmult_le_reg_r with (noise_scale o); auto.
  replace (d2r (sensitivity o) / noise_scale o * noise_scale o) with (d2r (sensitivity o)) by (field; lra).
  apply Rmult_le_reg_r with (/ epsilon o); [now apply Rinv_0_lt_compat|].
  replace (epsilon o * noise_scale o * / epsilon o) with (noise_scale o) by (field; lra). exact HL.
Qed.

(** The least power of two that is not below the scale, unless the caller asks for another. *)
Theorem step_is_least : grid o = None -> noise_scale o <= step o < 2 * noise_scale o.
Proof.
  intro H. unfold step, grid_exponent. rewrite H. apply least_power_is_least.
  destruct o_valid as (Hn & Hd & Hs). now apply scale_is_positive.
Qed.

(** The outputs have mass 1 and the law that is stated; between values at distance at most sensitivity * distance the loss is
    at most epsilon * distance, for every set of outputs. *)
Theorem exact_mode :
  (forall value, total (snapping_law o value)) /\
  (forall value out, sampled (fun s u => snapping o value s u = out) (snapping_law o value out)) /\
  (forall distance value value', 0 <= distance -> Rabs (value - value') <= d2r (sensitivity o) * distance ->
    dp (epsilon o * distance) (snapping_law o value) (snapping_law o value')).
Proof.
  pose proof noise_scale_positive as Hl. pose proof step_positive as Hg. split; [|split].
  - intro value. now apply release_total.
  - intros value out. now apply run_has_law.
  - intros distance value value' H0 H.
    apply dp_weaken with (d2r (sensitivity o) * distance / noise_scale o).
    + apply law_summable, release_law; auto.
    + now apply loss_at_distance.
    + now apply release_dp.
Qed.

(** Vectors: independent signs and uniforms for each coordinate, and the L1 distance. *)
Theorem exact_mode_vectors :
  (forall values, total (snapping_vector_law o values)) /\
  (forall distance values values', length values = length values' -> 0 <= distance ->
    l1 values values' <= d2r (sensitivity o) * distance ->
    dp (epsilon o * distance) (snapping_vector_law o values) (snapping_vector_law o values')).
Proof.
  pose proof noise_scale_positive as Hl. pose proof step_positive as Hg. split.
  - intro values. now apply release_vector_total.
  - intros distance values values' HL H0 H.
    apply dp_weaken with (l1 values values' / noise_scale o).
    + apply law_summable, release_vector_law; auto.
    + apply Rle_trans with (2 := loss_at_distance distance H0).
      apply Rmult_le_compat_r; auto. left. now apply Rinv_0_lt_compat.
    + now apply release_vector_dp.
Qed.
End Valid.
