(** Certificates of losses (proofs/certify.md), exact mode: of two values the last output gains most from moving up, the more the
    nearer they are to the lower bound, and the first from moving down. So the loss that is certified is the largest, and occurs. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Coquelicot Require Import Rbar Coquelicot.
From SnapDP Require Import Law Rounding Laplace Snapping Tables.
Open Scope R_scope.

Section Certificate.
Variable scale : R.
Hypothesis scale_positive : 0 < scale.

(** ** A value that moves up gains more on what lies higher *)
(** The logarithm of the density is concave: the ratio of two densities grows. *)
Lemma density_crossed value moved x middle : value <= moved -> x <= middle ->
  density scale (x - moved) * density scale (middle - value) <= density scale (middle - moved) * density scale (x - value).
Proof.
  intros Hv Hx. unfold density, Rdiv.
  assert (forall a b, exp (- Rabs a * / scale) * / (2 * scale) * (exp (- Rabs b * / scale) * / (2 * scale))
    = exp (- (Rabs a + Rabs b) * / scale) * (/ (2 * scale) * / (2 * scale))) as E.
  { intros a b. replace (- (Rabs a + Rabs b) * / scale) with (- Rabs a * / scale + - Rabs b * / scale) by ring. rewrite exp_plus. ring. }
  rewrite !E. apply Rmult_le_compat_r.
  - left. apply Rmult_lt_0_compat; apply Rinv_0_lt_compat; lra.
  - assert (- (Rabs (x - moved) + Rabs (middle - value)) * / scale <= - (Rabs (middle - moved) + Rabs (x - value)) * / scale) as [h|h].
    + apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. unfold Rabs. repeat destruct Rcase_abs; lra.
    + left. now apply exp_increasing.
    + rewrite h. lra.
Qed.

(** The factor by which a value that moves gains density at a point. *)
Definition gain (value moved middle : R) : R := density scale (middle - moved) / density scale (middle - value).

Lemma gain_positive value moved middle : 0 < gain value moved middle.
Proof. apply Rdiv_lt_0_compat; now apply density_pos. Qed.

Lemma below_gains_less value moved middle a b : value <= moved -> a <= b <= middle ->
  cdf scale (b - moved) - cdf scale (a - moved) <= gain value moved middle * (cdf scale (b - value) - cdf scale (a - value)).
Proof.
  intros Hv Hab. generalize (density_pos scale scale_positive (middle - value)). intro Hpos.
  apply (is_RInt_le (fun x => density scale (x - moved)) (fun x => gain value moved middle * density scale (x - value)) a b); [lra| | |].
  - apply ex_RInt_shift; lra.
  - apply (is_RInt_scal (fun x => density scale (x - value)) a b). apply ex_RInt_shift; lra.
  - intros x Hx. generalize (density_crossed value moved x middle Hv ltac:(lra)). intro H. unfold gain.
    apply Rmult_le_reg_r with (density scale (middle - value)); auto.
    replace (density scale (middle - moved) / density scale (middle - value) * density scale (x - value) * density scale (middle - value))
      with (density scale (middle - moved) * density scale (x - value)) by (field; lra). exact H.
Qed.

Lemma above_gains_more value moved middle a b : value <= moved -> middle <= a <= b ->
  gain value moved middle * (cdf scale (b - value) - cdf scale (a - value)) <= cdf scale (b - moved) - cdf scale (a - moved).
Proof.
  intros Hv Hab. generalize (density_pos scale scale_positive (middle - value)). intro Hpos.
  apply (is_RInt_le (fun x => gain value moved middle * density scale (x - value)) (fun x => density scale (x - moved)) a b); [lra| | |].
  - apply (is_RInt_scal (fun x => density scale (x - value)) a b). apply ex_RInt_shift; lra.
  - apply ex_RInt_shift; lra.
  - intros x Hx. generalize (density_crossed value moved middle x Hv ltac:(lra)). intro H. unfold gain.
    apply Rmult_le_reg_r with (density scale (middle - value)); auto.
    replace (density scale (middle - moved) / density scale (middle - value) * density scale (x - value) * density scale (middle - value))
      with (density scale (middle - moved) * density scale (x - value)) by (field; lra). lra.
Qed.

(** Half lines, by cutting off less and less. *)
Lemma low_tail_gains_less value moved middle b : value <= moved -> b <= middle ->
  cdf scale (b - moved) <= gain value moved middle * cdf scale (b - value).
Proof.
  intros Hv Hb. apply Rnot_lt_le. intro H.
  destruct (cdf_small scale scale_positive (cdf scale (b - moved) - gain value moved middle * cdf scale (b - value))) as [low Hlow]; [lra|].
  set (a := Rmin b (low + moved)). assert (a <= b /\ a - moved <= low) as [Ha Ha'].
  { unfold a. generalize (Rmin_l b (low + moved)) (Rmin_r b (low + moved)). lra. }
  specialize (Hlow _ Ha'). generalize (below_gains_less value moved middle a b Hv ltac:(lra)) (gain_positive value moved middle).
  generalize (cdf_range scale scale_positive (a - value)). intros H0 H1 H2. nra.
Qed.

Lemma high_tail_gains_more value moved middle a : value <= moved -> middle <= a ->
  gain value moved middle * (1 - cdf scale (a - value)) <= 1 - cdf scale (a - moved).
Proof.
  intros Hv Ha. apply Rnot_lt_le. intro H. generalize (gain_positive value moved middle). intro Hg.
  set (missing := gain value moved middle * (1 - cdf scale (a - value)) - (1 - cdf scale (a - moved))).
  destruct (cdf_large scale scale_positive (missing / gain value moved middle)) as [high Hhigh].
  { apply Rdiv_lt_0_compat; auto. unfold missing. lra. }
  set (b := Rmax a (high + value)). assert (a <= b /\ high <= b - value) as [Hb Hb'].
  { unfold b. generalize (Rmax_l a (high + value)) (Rmax_r a (high + value)). lra. }
  specialize (Hhigh _ Hb'). generalize (above_gains_more value moved middle a b Hv ltac:(lra)).
  generalize (cdf_range scale scale_positive (b - moved)). intros H0 H1.
  apply (Rmult_lt_compat_l (gain value moved middle)) in Hhigh; auto. rewrite Rmult_minus_distr_l in Hhigh.
  replace (gain value moved middle * (missing / gain value moved middle)) with missing in Hhigh by (field; lra).
  unfold missing in Hhigh. lra.
Qed.

(** Of two intervals, one before the other, perhaps infinite, the second gains more when the value moves up. *)
Lemma before_gains_less value moved (middle : R) (a b : Rbar) : value <= moved -> Rbar_le a b -> Rbar_le b middle -> b <> m_infty ->
  prob scale moved a b <= gain value moved middle * prob scale value a b.
Proof.
  intros Hv Hab Hb Hfinite. destruct b as [b| |]; simpl in Hb; try tauto. destruct a as [a| |]; simpl in Hab; try tauto; unfold prob; simpl.
  - apply (below_gains_less value moved middle a b); auto.
  - generalize (low_tail_gains_less value moved middle b Hv Hb). unfold Rminus. lra.
Qed.

Lemma behind_gains_more value moved (middle : R) (a b : Rbar) : value <= moved -> Rbar_le a b -> Rbar_le middle a -> a <> p_infty ->
  gain value moved middle * prob scale value a b <= prob scale moved a b.
Proof.
  intros Hv Hab Ha Hfinite. destruct a as [a| |]; simpl in Ha; try tauto. destruct b as [b| |]; simpl in Hab; try tauto; unfold prob; simpl.
  - apply (above_gains_more value moved middle a b); auto.
  - exact (high_tail_gains_more value moved middle a Hv Ha).
Qed.

Theorem later_gains_more value moved (a b c d : Rbar) (middle : R) : value <= moved -> Rbar_le a b -> Rbar_le c d ->
  Rbar_le b (Finite middle) -> Rbar_le (Finite middle) c -> b <> m_infty -> c <> p_infty ->
  prob scale moved a b * prob scale value c d <= prob scale moved c d * prob scale value a b.
Proof.
  intros Hv Hab Hcd Hb Hc Fb Fc.
  generalize (before_gains_less value moved middle a b Hv Hab Hb Fb) (behind_gains_more value moved middle c d Hv Hcd Hc Fc).
  generalize (laplace_interval scale scale_positive value value a b Hab) (laplace_interval scale scale_positive value value c d Hcd).
  intros [H1 _] [H2 _] H3 H4.
  apply Rle_trans with (gain value moved middle * prob scale value a b * prob scale value c d).
  - now apply Rmult_le_compat_r.
  - replace (gain value moved middle * prob scale value a b * prob scale value c d)
      with (gain value moved middle * prob scale value c d * prob scale value a b) by ring. now apply Rmult_le_compat_r.
Qed.

(** ** Tails *)
Definition high_tail (x : R) : R := 1 - cdf scale x.

Lemma high_tail_positive x : 0 < high_tail x.
Proof. unfold high_tail. generalize (cdf_range scale scale_positive x). lra. Qed.

Lemma high_tail_le x y : x <= y -> high_tail y <= high_tail x.
Proof. intro H. unfold high_tail. generalize (cdf_le scale scale_positive x y H). lra. Qed.

(** The logarithm of a tail is concave: the same move gains most from the lowest value. *)
Theorem high_tail_concave edge lower value distance : lower <= value -> 0 <= distance ->
  high_tail (edge - (value + distance)) * high_tail (edge - lower) <= high_tail (edge - (lower + distance)) * high_tail (edge - value).
Proof.
  intros Hl Hd. set (shift := value - lower).
  generalize (later_gains_more lower (lower + distance) (edge - shift) edge edge p_infty edge ltac:(lra) ltac:(simpl; unfold shift; lra) I
    ltac:(simpl; lra) ltac:(simpl; lra) ltac:(discriminate) ltac:(discriminate)).
  unfold prob. simpl. unfold high_tail.
  replace (edge - shift + - (lower + distance)) with (edge - (value + distance)) by (unfold shift; ring).
  replace (edge - shift + - lower) with (edge - value) by (unfold shift; ring).
  change (edge + - (lower + distance)) with (edge - (lower + distance)). change (edge + - lower) with (edge - lower). lra.
Qed.

Theorem low_tail_concave edge upper value distance : value <= upper -> 0 <= distance ->
  cdf scale (edge - (value - distance)) * cdf scale (edge - upper) <= cdf scale (edge - (upper - distance)) * cdf scale (edge - value).
Proof.
  intros Hu Hd.
  generalize (high_tail_concave (- edge) (- upper) (- value) distance ltac:(lra) Hd). unfold high_tail.
  rewrite <- !cdf_sym by auto.
  replace (- (- edge - (- value + distance))) with (edge - (value - distance)) by ring.
  replace (- (- edge - - upper)) with (edge - upper) by ring.
  replace (- (- edge - (- upper + distance))) with (edge - (upper - distance)) by ring.
  now replace (- (- edge - - value)) with (edge - value) by ring.
Qed.

(** Without bounds the loss of a distance is the distance over the scale, exactly: so much lose all cells beyond both values. *)
Theorem unbounded_attained step value moved k : value <= moved -> 0 < step -> moved <= (IZR k - / 2) * step ->
  snap_law scale step moved k = exp ((moved - value) / scale) * snap_law scale step value k.
Proof.
  intros Hv Hs Hk. rewrite !snap_law_cdf, !edge_next. unfold edge.
  rewrite !cdf_pos by nra.
  assert (forall x, exp ((moved - value) / scale) * exp (- (x - value) / scale) = exp (- (x - moved) / scale)) as E.
  { intro x. rewrite <- exp_plus. f_equal. field. lra. }
  rewrite <- (E ((IZR k + / 2) * step)), <- (E ((IZR k - / 2) * step)). field.
Qed.

Theorem unbounded_attained_below step value moved k : moved <= value -> 0 < step -> (IZR k + / 2) * step <= moved ->
  snap_law scale step moved k = exp ((value - moved) / scale) * snap_law scale step value k.
Proof.
  intros Hv Hs Hk. rewrite !snap_law_cdf, !edge_next. unfold edge.
  rewrite !cdf_neg by nra.
  assert (forall x, exp ((value - moved) / scale) * exp ((x - value) / scale) = exp ((x - moved) / scale)) as E.
  { intro x. rewrite <- exp_plus. f_equal. field. lra. }
  rewrite <- (E ((IZR k + / 2) * step)), <- (E ((IZR k - / 2) * step)). field.
Qed.

(** With one bound, the cells of the other side. *)
Lemma cell_alone step lower upper y k : 0 < step -> clamp_between lower upper y = y ->
  (forall x, clamp_between lower upper x = step * IZR k <-> x = step * IZR k) ->
  release scale step lower upper y (step * IZR k) = snap_law scale step y k.
Proof.
  intros Hs Hy Hclamp. pose proof (snap_summable scale step scale_positive Hs y) as HS.
  unfold release, push. rewrite Hy, <- (Pr_single (snap_law scale step y) k HS). apply Pr_ext; auto. intro j. rewrite Hclamp. split.
  - intro E. apply Rmult_eq_reg_l in E; [now apply eq_IZR|lra].
  - now intros ->.
Qed.

Theorem lower_bound_attained step lower value moved k : 0 < step -> lower <= value <= moved -> moved <= (IZR k - / 2) * step ->
  release scale step (Some lower) None moved (step * IZR k)
  = exp ((moved - value) / scale) * release scale step (Some lower) None value (step * IZR k).
Proof.
  intros Hs Hv Hk.
  assert (forall x, clamp_between (Some lower) None x = step * IZR k <-> x = step * IZR k) as Hclamp.
  { intro x. unfold clamp_between, Rmax. destruct Rle_dec; split; intro E; try lra; nra. }
  rewrite !cell_alone; auto; try (unfold clamp_between; apply Rmax_right; lra).
  apply unbounded_attained; lra.
Qed.

Theorem upper_bound_attained step upper value moved k : 0 < step -> moved <= value <= upper -> (IZR k + / 2) * step <= moved ->
  release scale step None (Some upper) moved (step * IZR k)
  = exp ((value - moved) / scale) * release scale step None (Some upper) value (step * IZR k).
Proof.
  intros Hs Hv Hk.
  assert (forall x, clamp_between None (Some upper) x = step * IZR k <-> x = step * IZR k) as Hclamp.
  { intro x. unfold clamp_between, Rmin. destruct Rle_dec; split; intro E; try lra; nra. }
  rewrite !cell_alone; auto; try (unfold clamp_between; apply Rmin_right; lra).
  apply unbounded_attained_below; lra.
Qed.

(** ** The loss that is certified between two bounds *)
Variables grid lower upper : R.
Hypothesis grid_positive : 0 < grid.
Hypothesis in_order : lower < upper.
(** The last multiple that is not above the lower bound, and the first that is not below the upper. *)
Variables first last : Z.
Hypothesis first_below : grid * IZR first <= lower < grid * IZR (first + 1).
Hypothesis last_above : grid * IZR (last - 1) < upper <= grid * IZR last.

Definition outputs_of (value : R) : R -> R := release scale grid (Some lower) (Some upper) value.
Definition first_edge : R := (IZR first + / 2) * grid.
Definition last_edge : R := (IZR last - / 2) * grid.

Lemma edges_in_order : first_edge <= last_edge.
Proof.
  unfold first_edge, last_edge. apply Rmult_le_compat_r; [lra|].
  assert (first < last)%Z as H.
  { apply lt_IZR. apply Rmult_lt_reg_l with grid; auto. lra. }
  assert (IZR first + 1 <= IZR last) by (rewrite <- plus_IZR; apply IZR_le; lia). lra.
Qed.

(** An output is an interval of the noisy value, the same for every value: the first, the last, or between them; or it never occurs. *)
Lemma output_event output :
  (forall value, lower <= value <= upper -> outputs_of value output = 0) \/
  exists a b : Rbar, (forall value, lower <= value <= upper -> outputs_of value output = prob scale value a b) /\
    Rbar_le a b /\ a <> p_infty /\ b <> m_infty /\
    ((a = Finite last_edge /\ b = p_infty) \/ Rbar_le b (Finite last_edge)) /\
    ((a = m_infty /\ b = Finite first_edge) \/ Rbar_le (Finite first_edge) a).
Proof.
  generalize edges_in_order. intro Hedges. unfold outputs_of. destruct (Req_dec output lower) as [->|Hl].
  { right. exists m_infty, (Finite first_edge). split; [|simpl; repeat split; auto; discriminate].
    intros value Hv. rewrite (law_of_lower scale grid value scale_positive grid_positive lower upper Hv first in_order first_below).
    unfold prob, first_edge. simpl. unfold Rminus. ring. }
  destruct (Req_dec output upper) as [->|Hu].
  { right. exists (Finite last_edge), p_infty. split; [|simpl; repeat split; auto; discriminate].
    intros value Hv. rewrite (law_of_upper scale grid value scale_positive grid_positive lower upper Hv last in_order last_above). reflexivity. }
  destruct (Classical_Prop.classic (exists k, output = grid * IZR k /\ lower < output < upper)) as [(k & -> & Hk)|Hno].
  - right. exists (Finite ((IZR k - / 2) * grid)), (Finite ((IZR k + / 2) * grid)). split.
    + intros value Hv. rewrite (law_of_cell scale grid value scale_positive grid_positive lower upper Hv k Hk). reflexivity.
    + assert (first < k < last)%Z as [Hf Hlast] by (split; apply lt_IZR, Rmult_lt_reg_l with grid; auto; lra).
      assert (IZR first + 1 <= IZR k) as H1 by (rewrite <- plus_IZR; apply IZR_le; lia).
      assert (IZR k + 1 <= IZR last) as H2 by (rewrite <- plus_IZR; apply IZR_le; lia).
      split; [simpl; apply Rmult_le_compat_r; lra|]. split; [discriminate|]. split; [discriminate|].
      split; right; simpl; unfold first_edge, last_edge; apply Rmult_le_compat_r; lra.
  - left. intros value Hv. unfold release, push. rewrite (Pr_ext _ _ (fun _ => False)).
    + pose proof (snap_summable scale grid scale_positive grid_positive (clamp_between (Some lower) (Some upper) value)) as HS.
      apply Rle_antisym.
      * apply Pr_lub; auto. intros l _ Hempty. destruct l as [|k l]; [simpl; lra|]. exfalso. apply (Hempty k). now left.
      * apply (Pr_ub _ (fun _ => False) nil HS); [constructor|]. intros k [].
    + apply snap_summable; auto.
    + intro k. split; [|tauto]. rewrite clamp_between_both. intro E. apply Hno. exists k.
      assert (clamp lower upper (grid * IZR k) = grid * IZR k \/ output = lower \/ output = upper) as [Hc|[Hc|Hc]]; try (exfalso; congruence).
      { rewrite <- E. unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; auto. }
      generalize (clamp_range lower upper (grid * IZR k) ltac:(lra)). rewrite E. intro Hrange. split; [congruence|].
      destruct (Rdichotomy _ _ Hl), (Rdichotomy _ _ Hu); lra.
Qed.

(** Two factors of one positive number. *)
Lemma through_tail p p' t t' s s' : 0 < t -> 0 < s -> 0 <= p -> p' * t <= t' * p -> t' * s <= s' * t -> p' * s <= s' * p.
Proof.
  intros Ht Hs Hp H1 H2. apply Rmult_le_reg_r with t; auto. apply Rle_trans with (t' * p * s).
  - replace (p' * s * t) with (p' * t * s) by ring. apply Rmult_le_compat_r; lra.
  - replace (t' * p * s) with (t' * s * p) by ring. replace (s' * p * t) with (s' * t * p) by ring. now apply Rmult_le_compat_r.
Qed.

(** Upward, no output gains more than the upper bound does from the lower bound on; downward, the lower bound from the upper. *)
Theorem upward_loss value moved distance output : lower <= value -> value <= moved <= upper -> moved - value <= distance ->
  outputs_of moved output * high_tail (last_edge - lower) <= high_tail (last_edge - (lower + distance)) * outputs_of value output.
Proof.
  intros Hl Hm Hd. generalize edges_in_order. intro Hedges.
  assert (0 <= outputs_of value output) as Hpos.
  { apply (proj1 (release_law scale grid scale_positive grid_positive (Some lower) (Some upper) value)). }
  apply (through_tail _ _ (high_tail (last_edge - value)) (high_tail (last_edge - moved))); auto using high_tail_positive.
  - destruct (output_event output) as [H0|(a & b & H & Hab & Fa & Fb & [[-> ->]|Hlast] & _)].
    + rewrite !H0 by lra. lra.
    + rewrite !H by lra. change (prob scale moved (Finite last_edge) p_infty) with (high_tail (last_edge - moved)).
      change (prob scale value (Finite last_edge) p_infty) with (high_tail (last_edge - value)). lra.
    + rewrite !H by lra. apply (later_gains_more value moved a b (Finite last_edge) p_infty last_edge); simpl; auto; try lra; discriminate.
  - apply Rle_trans with (2 := Rmult_le_compat_r _ _ _ (Rlt_le _ _ (high_tail_positive (last_edge - value)))
      (high_tail_le (last_edge - (lower + distance)) (last_edge - (lower + (moved - value))) ltac:(lra))).
    generalize (high_tail_concave last_edge lower value (moved - value) Hl ltac:(lra)).
    now replace (value + (moved - value)) with moved by ring.
Qed.

Theorem downward_loss value moved distance output : lower <= moved <= value -> value <= upper -> value - moved <= distance ->
  outputs_of moved output * cdf scale (first_edge - upper) <= cdf scale (first_edge - (upper - distance)) * outputs_of value output.
Proof.
  intros Hm Hu Hd. generalize edges_in_order. intro Hedges.
  assert (forall x, 0 < cdf scale x) as Hcdf by (intro x; apply cdf_range; auto).
  assert (0 <= outputs_of value output) as Hpos.
  { apply (proj1 (release_law scale grid scale_positive grid_positive (Some lower) (Some upper) value)). }
  assert (forall v, cdf scale (first_edge - v) = prob scale v m_infty (Finite first_edge)) as E.
  { intro v. unfold prob. simpl. unfold Rminus. ring. }
  apply (through_tail _ _ (cdf scale (first_edge - value)) (cdf scale (first_edge - moved))); auto.
  - destruct (output_event output) as [H0|(a & b & H & Hab & Fa & Fb & _ & [[-> ->]|Hfirst])].
    + rewrite !H0 by lra. lra.
    + rewrite !H, !E by lra. lra.
    + rewrite !H, !E by lra. rewrite (Rmult_comm (prob _ _ _ _)), (Rmult_comm (prob scale moved _ _)).
      generalize (later_gains_more moved value m_infty (Finite first_edge) a b first_edge ltac:(lra) I Hab ltac:(simpl; lra) Hfirst
        ltac:(discriminate) Fa). lra.
  - apply Rle_trans with (2 := Rmult_le_compat_r _ _ _ (Rlt_le _ _ (Hcdf (first_edge - value)))
      (cdf_le scale scale_positive (first_edge - (upper - (value - moved))) (first_edge - (upper - distance)) ltac:(lra))).
    generalize (low_tail_concave first_edge upper value (value - moved) Hu ltac:(lra)).
    now replace (value - (value - moved)) with moved by ring.
Qed.

(** What certify states for exact mode with both bounds, for every set of outputs; and that it occurs. *)
Definition certified_loss (distance : R) : R :=
  Rmax (ln (high_tail (last_edge - (lower + distance))) - ln (high_tail (last_edge - lower)))
       (ln (cdf scale (first_edge - (upper - distance))) - ln (cdf scale (first_edge - upper))).

Lemma exp_of_ratio x y : 0 < x -> 0 < y -> exp (ln x - ln y) = x / y.
Proof. intros Hx Hy. unfold Rminus. rewrite exp_plus, exp_Ropp, !exp_ln by auto. reflexivity. Qed.

Lemma factor_of_loss p p' s s' loss : 0 < s -> 0 < s' -> 0 <= p -> p' * s <= s' * p -> ln s' - ln s <= loss -> p' <= exp loss * p.
Proof.
  intros Hs Hs' Hp H Hloss. apply Rle_trans with (exp (ln s' - ln s) * p).
  - rewrite exp_of_ratio by auto. apply Rmult_le_reg_r with s; auto. replace (s' / s * p * s) with (s' * p) by (field; lra). exact H.
  - apply Rmult_le_compat_r; auto. destruct Hloss as [h| ->]; [left; now apply exp_increasing|lra].
Qed.

Theorem exact_mode_certified value moved distance : lower <= value <= upper -> lower <= moved <= upper -> Rabs (moved - value) <= distance ->
  dp (certified_loss distance) (outputs_of moved) (outputs_of value).
Proof.
  intros Hv Hm Hd. apply Rabs_le_between in Hd.
  assert (forall x, 0 < cdf scale x) as Hcdf by (intro x; apply cdf_range; auto).
  pose proof (release_law scale grid scale_positive grid_positive (Some lower) (Some upper)) as Hlaw.
  apply dp_pointwise; [apply law_summable, Hlaw|apply law_summable, Hlaw|]. intro output.
  assert (0 <= outputs_of value output) as Hpos by apply Hlaw.
  destruct (Rle_or_lt value moved) as [h|h].
  - apply (factor_of_loss _ _ _ _ _ (high_tail_positive _) (high_tail_positive _) Hpos
      (upward_loss value moved distance output ltac:(lra) ltac:(lra) ltac:(lra))). apply Rmax_l.
  - apply (factor_of_loss _ _ _ _ _ (Hcdf _) (Hcdf _) Hpos
      (downward_loss value moved distance output ltac:(lra) ltac:(lra) ltac:(lra))). apply Rmax_r.
Qed.

(** No smaller loss holds: the bounds themselves, as outputs, lose it. *)
Theorem exact_mode_attained distance : 0 <= distance <= upper - lower ->
  outputs_of (lower + distance) upper
    = exp (ln (high_tail (last_edge - (lower + distance))) - ln (high_tail (last_edge - lower))) * outputs_of lower upper /\
  outputs_of (upper - distance) lower
    = exp (ln (cdf scale (first_edge - (upper - distance))) - ln (cdf scale (first_edge - upper))) * outputs_of upper lower.
Proof.
  intro Hd. assert (forall x, 0 < cdf scale x) as Hcdf by (intro x; apply cdf_range; auto).
  rewrite !exp_of_ratio by auto using high_tail_positive. unfold outputs_of.
  rewrite !(fun v H => law_of_upper scale grid v scale_positive grid_positive lower upper H last in_order last_above) by lra.
  rewrite !(fun v H => law_of_lower scale grid v scale_positive grid_positive lower upper H first in_order first_below) by lra.
  fold first_edge last_edge. generalize (high_tail_positive (last_edge - lower)) (Hcdf (first_edge - upper)). unfold high_tail.
  intros H1 H2. split; field; lra.
Qed.
End Certificate.
