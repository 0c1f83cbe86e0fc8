(** Precision mode, step (6) of make_snapping.md: bounds within half a step. There are three outputs, no value leaves the cell of 0,
    and each output keeps its kind for all values. *)
From Coq Require Import Reals ZArith Lra Lia.
From Coquelicot Require Import Coquelicot.
From Flocq Require Import Core.
From SnapDP Require Import Law Laplace Snapping Precision PrecisionTails PrecisionLoss.
Open Scope R_scope.

Section Narrow.
Variables (p exponent : Z) (scale half reach : R).
Hypothesis precision_large : (8 <= p)%Z.
Hypothesis scale_positive : 0 < scale.
Hypothesis half_positive : 0 <= half.
Notation grid := (bpow radix2 exponent).
Hypothesis within_half_step : 2 * half < (1 - eta p) * grid.
Hypothesis reach_is : grid / 2 * (1 + eta p) + half <= reach * scale.

(** The most that the Laplace law puts outside of the cell of 0, and its odds. *)
Definition outside : R := (exp (- (((1 - eta p) * grid / 2 - half) / scale)) + exp (- (((1 - eta p) * grid / 2 + half) / scale))) / 2.
Definition odds : R := outside / (1 - outside).
Hypothesis middle_stays : kappa p reach * odds < 1.

Definition narrow_excess : R :=
  Rmax (ln (1 + kappa p reach) - ln (1 - mu p reach)) (ln (1 + mu p reach * odds) - ln (1 - kappa p reach * odds)).

Lemma grid_positive : 0 < grid.
Proof. apply bpow_gt_0. Qed.

Lemma eta_range : 0 < eta p <= / 256.
Proof. now apply eta_small. Qed.

Lemma edges_are_numbers k : (- 1 < k <= 1)%Z -> generic_format radix2 (FLX_exp p) (edge_of grid k).
Proof.
  intro Hk. assert (generic_format radix2 (FLX_exp p) (bpow radix2 (exponent - 1))) as H.
  { apply generic_format_bpow. unfold FLX_exp. lia. }
  assert (bpow radix2 (exponent - 1) = grid / 2) as E.
  { unfold Zminus. rewrite bpow_plus. simpl. lra. }
  assert (k = 0 \/ k = 1)%Z as [-> | ->] by lia; unfold edge_of; rewrite E in H.
  - replace ((0 - / 2) * grid) with (- (grid / 2)) by field. now apply generic_format_opp.
  - now replace ((1 - / 2) * grid) with (grid / 2) by field.
Qed.

(** The thresholds lie on both sides of every value. *)
Lemma thresholds d : Rabs d <= half ->
  (1 - eta p) * grid / 2 - d <= threshold p grid 1 d <= reach * scale /\
  (1 - eta p) * grid / 2 + d <= - threshold p grid 0 d <= reach * scale.
Proof.
  intro Hd. apply Rabs_le_between in Hd. generalize grid_positive eta_range. intros Hg He. unfold threshold.
  generalize (boundary_moves_little p precision_large (edge_of grid 1) (edges_are_numbers 1 ltac:(lia)))
    (boundary_moves_little p precision_large (edge_of grid 0) (edges_are_numbers 0 ltac:(lia))).
  unfold edge_of. rewrite (Rabs_right ((1 - / 2) * grid)), (Rabs_left ((0 - / 2) * grid)) by nra.
  intros H1 H0. specialize (H1 ltac:(nra)). specialize (H0 ltac:(nra)). split; split; nra.
Qed.

Lemma cosh_grows x y : - y <= x <= y -> exp x + exp (- x) <= exp y + exp (- y).
Proof.
  intro H. assert (exp y + exp (- y) - (exp x + exp (- x)) = (exp y - exp x) * (1 - exp (- (x + y)))) as E.
  { rewrite Rmult_minus_distr_r, !Rmult_minus_distr_l, !Rmult_1_r, <- !exp_plus.
    replace (y + - (x + y)) with (- x) by ring. replace (x + - (x + y)) with (- y) by ring. ring. }
  assert (0 <= (exp y - exp x) * (1 - exp (- (x + y)))); [|lra]. apply Rmult_le_pos.
  - generalize (exp_mono x y ltac:(lra)). lra.
  - generalize (exp_mono (- (x + y)) 0 ltac:(lra)). rewrite exp_0. lra.
Qed.

Lemma outside_bound d : Rabs d <= half ->
  exp (- (threshold p grid 1 d / scale)) / 2 + exp (- (- threshold p grid 0 d / scale)) / 2 <= outside.
Proof.
  intro Hd. destruct (thresholds d Hd) as [[H1 _] [H0 _]]. apply Rabs_le_between in Hd.
  assert (forall x y, x <= y -> x / scale <= y / scale) as Hdiv.
  { intros x y h. apply Rmult_le_compat_r; auto. left. now apply Rinv_0_lt_compat. }
  set (a := (1 - eta p) * grid / 2) in *.
  assert (forall x, exp (- ((a - x) / scale)) = exp (- (a / scale)) * exp (x / scale)) as E.
  { intro x. rewrite <- exp_plus. f_equal. field. lra. }
  generalize (exp_mono _ _ (Ropp_le_contravar _ _ (Hdiv _ _ H1))) (exp_mono _ _ (Ropp_le_contravar _ _ (Hdiv _ _ H0))).
  unfold outside. fold a. replace (a + d) with (a - - d) by ring. replace (a + half) with (a - - half) by ring. rewrite !E.
  generalize (cosh_grows (d / scale) (half / scale)).
  replace (- (d / scale)) with (- d / scale) by (field; lra). replace (- (half / scale)) with (- half / scale) by (field; lra).
  intro H. specialize (H (conj (Hdiv (- half) d ltac:(lra)) (Hdiv d half ltac:(lra)))).
  apply (Rmult_le_compat_l (exp (- (a / scale)))) in H; [|left; apply exp_pos]. lra.
Qed.

Lemma outside_range : 0 < outside < 1.
Proof.
  generalize grid_positive eta_range. intros Hg He.
  assert (forall x, 0 < x -> exp (- (x / scale)) < 1) as H.
  { intros x Hx. rewrite <- exp_0. apply exp_increasing. generalize (Rdiv_lt_0_compat x scale Hx scale_positive). lra. }
  unfold outside.
  generalize (H ((1 - eta p) * grid / 2 - half) ltac:(lra)) (H ((1 - eta p) * grid / 2 + half) ltac:(lra)).
  generalize (exp_pos (- (((1 - eta p) * grid / 2 - half) / scale))) (exp_pos (- (((1 - eta p) * grid / 2 + half) / scale))). lra.
Qed.

Lemma reach_nonneg : 0 <= reach.
Proof.
  generalize grid_positive eta_range. intros Hg He. apply Rmult_le_reg_r with scale; auto. rewrite Rmult_0_l.
  apply Rle_trans with (2 := reach_is). nra.
Qed.

Definition down_of (j : Z) : R := if (j =? 0)%Z then kappa p reach * odds else mu p reach.
Definition up_of (j : Z) : R := if (j =? 0)%Z then mu p reach * odds else kappa p reach.

Lemma narrow_within d j : Rabs d <= half -> (Z.abs j <= 1)%Z ->
  (1 - down_of j) * ideal_law p scale grid 1 d j <= precision_law p scale grid 1 d j <= (1 + up_of j) * ideal_law p scale grid 1 d j.
Proof.
  intros Hd Hj. destruct (thresholds d Hd) as [[Hlow1 Hhigh1] [Hlow0 Hhigh0]]. generalize (outside_bound d Hd). intro Hout.
  generalize outside_range. intro Hrange. pose proof (Rabs_le_between d half) as Hb. apply Hb in Hd. clear Hb.
  set (t1 := threshold p grid 1 d) in *. set (t0 := threshold p grid 0 d) in *.
  assert (0 < t1 /\ t0 < 0) as [Ht1 Ht0] by lra.
  assert (forall x, 0 <= x <= reach * scale -> 0 <= x / scale <= reach) as Hx.
  { intros x H. split; [apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]|].
    apply Rmult_le_reg_r with scale; auto. replace (x / scale * scale) with x by (field; lra). lra. }
  destruct (tail_at_spec p precision_large scale scale_positive grid 1 edges_are_numbers d 1 ltac:(lia)) as [_ [HT1 _]].
  destruct (tail_at_spec p precision_large scale scale_positive grid 1 edges_are_numbers d 0 ltac:(lia)) as [_ [_ HT0]].
  fold t1 in HT1. fold t0 in HT0. specialize (HT1 Ht1). specialize (HT0 (Rlt_le _ _ Ht0)).
  generalize (tail_ratio p precision_large (/ 2) reach ltac:(lra) (t1 / scale) _ (Hx t1 ltac:(lra)) HT1)
    (tail_ratio p precision_large (/ 2) reach ltac:(lra) (- t0 / scale) _ (Hx (- t0) ltac:(lra)) HT0).
  set (h1 := exp (- (t1 / scale)) / 2) in *. set (h0 := exp (- (- t0 / scale)) / 2) in *.
  assert (cdf scale t1 = 1 - h1) as E1.
  { rewrite cdf_pos by lra. unfold h1. do 3 f_equal. field. lra. }
  assert (cdf scale t0 = h0) as E0.
  { rewrite cdf_neg by lra. unfold h0. do 2 f_equal. field. lra. }
  assert (0 < h1 /\ 0 < h0) as [P1 P0] by (unfold h1, h0; split; apply Rdiv_lt_0_compat; try apply exp_pos; lra).
  assert (h1 + h0 <= odds * (1 - (h1 + h0))) as Hodds.
  { unfold odds. apply Rmult_le_reg_r with (1 - outside); [lra|].
    replace (outside / (1 - outside) * (1 - (h1 + h0)) * (1 - outside)) with (outside * (1 - (h1 + h0))) by (field; lra). lra. }
  intros Q1 Q0. unfold precision_law, ideal_law, prob, low, high, down_of, up_of.
  assert (j = -1 \/ j = 0 \/ j = 1)%Z as [-> |[-> | ->]] by lia; simpl.
  - change (cdf scale (moved p (edge_of grid 0) + - d)) with (cdf scale t0). rewrite E0, Rminus_0_r. exact Q0.
  - change (cdf scale (moved p (edge_of grid 0) + - d)) with (cdf scale t0).
    change (cdf scale (moved p (edge_of grid 1) + - d)) with (cdf scale t1). rewrite E0, E1.
    generalize (kappa_nonneg p precision_large (/ 2) reach ltac:(lra) reach_nonneg) (mu_nonneg p precision_large (/ 2) reach ltac:(lra) reach_nonneg). intros Hk Hm.
    assert (kappa p reach * (h1 + h0) <= kappa p reach * (odds * (1 - (h1 + h0)))) by (now apply Rmult_le_compat_l).
    assert (mu p reach * (h1 + h0) <= mu p reach * (odds * (1 - (h1 + h0)))) by (now apply Rmult_le_compat_l).
    split; lra.
  - change (cdf scale (moved p (edge_of grid 1) + - d)) with (cdf scale t1). rewrite E1.
    replace (1 - (1 - h1)) with h1 by ring. rewrite Rminus_0_r. exact Q1.
Qed.

Lemma narrow_ideal d j : Rabs d <= half -> 0 <= ideal_law p scale grid 1 d j.
Proof.
  intro Hd. unfold ideal_law. destruct (Z.leb_spec (Z.abs j) 1) as [Hj|Hj]; [|lra].
  apply (laplace_interval scale scale_positive d d). unfold low, high.
  destruct (thresholds 0) as [[H1 _] [H0 _]]; [rewrite Rabs_R0; lra|]. unfold threshold in *.
  assert (j = -1 \/ j = 0 \/ j = 1)%Z as [-> |[-> | ->]] by lia; simpl; auto. generalize grid_positive eta_range. intros. nra.
Qed.

Lemma mu_below_1 : mu p reach < 1.
Proof. unfold mu. generalize (exp_pos (- (reach * (2 * eta p - eta p * eta p) / ((1 - eta p) * (1 - eta p))))). lra. Qed.

Lemma down_of_below_1 j : down_of j < 1.
Proof. unfold down_of. destruct Z.eqb; [exact middle_stays|exact mu_below_1]. Qed.

Lemma factors_nonneg j : 0 <= down_of j /\ 0 <= up_of j.
Proof.
  generalize (kappa_nonneg p precision_large (/ 2) reach ltac:(lra) reach_nonneg) (mu_nonneg p precision_large (/ 2) reach ltac:(lra) reach_nonneg) outside_range.
  intros Hk Hm Ho. assert (0 <= odds) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  unfold down_of, up_of. destruct Z.eqb; split; auto; now apply Rmult_le_pos.
Qed.

Lemma narrow_summable d : Rabs d <= half -> summable (precision_law p scale grid 1 d).
Proof.
  intro Hd. apply (finite_summable 1); [lia| |].
  - intro j. destruct (Z_le_gt_dec (Z.abs j) 1) as [Hj|Hj].
    + apply Rle_trans with (2 := proj1 (narrow_within d j Hd Hj)).
      apply Rmult_le_pos; [generalize (down_of_below_1 j); lra|now apply narrow_ideal].
    + unfold precision_law. destruct (Z.leb_spec (Z.abs j) 1); [lia|lra].
  - intros j Hj. unfold precision_law. destruct (Z.leb_spec (Z.abs j) 1); [lia|auto].
Qed.

Theorem narrow_precision_dp d d' distance : Rabs d <= half -> Rabs d' <= half -> Rabs (d - d') <= distance ->
  dp (distance / scale + narrow_excess) (precision_law p scale grid 1 d) (precision_law p scale grid 1 d').
Proof.
  intros Hd Hd' HD. apply dp_pointwise; [now apply narrow_summable|now apply narrow_summable|]. intro j.
  destruct (Z_le_gt_dec (Z.abs j) 1) as [Hj|Hj].
  2:{ unfold precision_law. destruct (Z.leb_spec (Z.abs j) 1); [lia|lra]. }
  destruct (narrow_within d j Hd Hj) as [_ Hup]. destruct (narrow_within d' j Hd' Hj) as [Hdown _].
  generalize (down_of_below_1 j) (factors_nonneg j) (narrow_ideal d' j Hd'). intros H1 [H2 H3] H4.
  assert (ideal_law p scale grid 1 d j <= exp (distance / scale) * ideal_law p scale grid 1 d' j) as Hideal.
  { unfold ideal_law. destruct (Z.leb_spec (Z.abs j) 1); [|lia]. apply laplace_interval_dp; auto.
    unfold low, high. destruct (thresholds 0) as [[G1 _] [G0 _]]; [rewrite Rabs_R0; lra|]. unfold threshold in *.
    assert (j = -1 \/ j = 0 \/ j = 1)%Z as [-> |[-> | ->]] by lia; simpl; auto. generalize grid_positive eta_range. intros. nra. }
  assert ((1 + up_of j) / (1 - down_of j) <= exp narrow_excess) as Hfactor.
  { apply Rle_trans with (exp (ln (1 + up_of j) - ln (1 - down_of j))).
    - right. unfold Rminus at 2. rewrite exp_plus, exp_Ropp, !exp_ln by lra. reflexivity.
    - apply exp_mono. unfold narrow_excess, up_of, down_of. destruct Z.eqb; [apply Rmax_r|apply Rmax_l]. }
  generalize (exp_pos (distance / scale)). intro He.
  rewrite exp_plus. apply Rle_trans with ((1 + up_of j) * (exp (distance / scale) * ideal_law p scale grid 1 d' j)).
  - apply Rle_trans with (1 := Hup). apply Rmult_le_compat_l; [lra|exact Hideal].
  - apply Rle_trans with (exp (distance / scale) * ((1 + up_of j) / (1 - down_of j)) * ((1 - down_of j) * ideal_law p scale grid 1 d' j)).
    + right. field. lra.
    + apply Rmult_le_compat; auto; try (apply Rmult_le_pos; lra).
      * apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. lra.
      * apply Rmult_le_compat_l; [lra|exact Hfactor].
Qed.
End Narrow.
