(** Closed forms of the law and of the probability of a large error, for the tables tests/data/law.csv and miss.csv: a row is a
    theorem by interval arithmetic (tools/check-coq tables). *)
From Coq Require Import Reals ZArith List Lra Lia.
From Coquelicot Require Import Rbar.
From SnapDP Require Import Law Rounding Laplace Snapping.
Open Scope R_scope.

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
