(** make_snapping, precision mode, in the constructor's terms: what it checks (p >= 8, the grid the least power of two that is
    not below the scale, scale < B < 2^(p-7) scale) gives every condition of the loss that is proved. Then the algorithm with
    its centering, clamps and final rounding, its law, and the loss. *)
From Coq Require Import Reals ZArith List Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Flocq Require Import Core.
From SnapDP Require Import Law Rounding Laplace Snapping Sampler Mechanism Datasets Pipeline Steps Precision PrecisionTails PrecisionLoss Releases.
Import ListNotations.
Open Scope R_scope.
Notation eta := PrecisionTails.eta.

Section Constructor.
(** p bits; the grid is 2^exponent; the bounds are center -+ half. *)
Variables (p exponent : Z) (scale half : R).
Hypothesis p_large : (8 <= p)%Z.
Hypothesis scale_positive : 0 < scale.
Let grid := bpow radix2 exponent.
Hypothesis grid_is_least : scale <= grid < 2 * scale.
Hypothesis scale_below : scale < half.
Hypothesis width_below : half < bpow radix2 (p - 7) * scale.

(** The outputs are the multiples k of the grid with |k| < last, and the two bounds. *)
Definition last : Z := Rounding.ceil (half / grid).
Definition farthest : R := far grid last.
Definition reach : R := (farthest * (1 + eta p) + half) / scale.
Definition q : R := exp (- ((grid - eta p * farthest) / scale)).

Lemma grid_positive : 0 < grid. Proof. apply bpow_gt_0. Qed.
Lemma eta_range : 0 < eta p <= / 256. Proof. now apply eta_small. Qed.
Lemma eta_width : eta p * half < / 128 * scale.
Proof.
  unfold eta. apply (Rmult_lt_compat_l (bpow radix2 (- p))) in width_below; [|apply bpow_gt_0].
  rewrite <- Rmult_assoc, <- bpow_plus in width_below. replace (- p + (p - 7))%Z with (-7)%Z in width_below by ring.
  replace (bpow radix2 (-7)) with (/ 128) in width_below by (simpl; lra). exact width_below.
Qed.
Lemma last_range : half / grid <= IZR last < half / grid + 1.
Proof.
  split; [apply ceil_ge|]. unfold last, Rounding.ceil. rewrite opp_IZR. generalize (floor_bounds (- (half / grid))). lra.
Qed.
Lemma last_positive : (1 <= last)%Z.
Proof.
  assert (0 < half / grid) by (apply Rdiv_lt_0_compat; [lra|apply grid_positive]). generalize last_range. intros [H1 _].
  assert (0 < IZR last) as H2 by lra. apply lt_IZR in H2. lia.
Qed.
Lemma farthest_range : 0 < farthest < half + grid / 2.
Proof.
  generalize grid_positive last_range last_positive. intros Hg [H1 H2] H3. unfold farthest, far. split.
  - apply IZR_le in H3. apply Rmult_lt_0_compat; lra.
  - apply (Rmult_lt_compat_r grid) in H2; auto. replace ((half / grid + 1) * grid) with (half + grid) in H2 by (field; lra). lra.
Qed.
Lemma eta_farthest : eta p * farthest < / 64 * scale.
Proof.
  generalize eta_range eta_width farthest_range grid_positive. intros. assert (eta p * farthest <= eta p * (half + grid / 2)) by (apply Rmult_le_compat_l; lra).
  assert (eta p * (grid / 2) <= / 256 * (grid / 2)) by (apply Rmult_le_compat_r; lra). lra.
Qed.
Lemma q_range : 0 < q < 1.
Proof.
  unfold q. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing.
  assert (0 < (grid - eta p * farthest) / scale); [|lra]. apply Rdiv_lt_0_compat; auto. generalize eta_farthest. lra.
Qed.
Lemma q_half : q <= / 2.
Proof.
  unfold q. apply Rle_trans with (exp (- (63 / 64))).
  - apply exp_mono. apply Ropp_le_contravar. apply Rmult_le_reg_r with scale; auto.
    replace ((grid - eta p * farthest) / scale * scale) with (grid - eta p * farthest) by (field; lra). generalize eta_farthest. lra.
  - rewrite exp_Ropp. apply Rinv_le_contravar; [lra|].
    assert (1 + 63/128 <= exp (63/128)) by apply exp_ge. replace (63/64) with (63/128 + 63/128) by lra. rewrite exp_plus.
    apply Rle_trans with ((1 + 63/128) * (1 + 63/128)); [lra|]. apply Rmult_le_compat; lra.
Qed.
Lemma reach_range : 0 <= reach.
Proof. unfold reach. apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat]. generalize farthest_range eta_range. nra. Qed.
Lemma eta_reach : eta p * reach <= 3 / 128.
Proof.
  unfold reach. apply Rmult_le_reg_r with scale; auto.
  replace (eta p * ((farthest * (1 + eta p) + half) / scale) * scale) with (eta p * farthest * (1 + eta p) + eta p * half) by (field; lra).
  generalize eta_range eta_width farthest_range grid_positive. intros [He1 He2] HB [HF0 HF] Hg.
  assert (eta p * farthest <= eta p * half + eta p * (grid / 2)) by (rewrite <- Rmult_plus_distr_l; apply Rmult_le_compat_l; lra).
  assert (eta p * (grid / 2) <= / 256 * scale).
  { apply Rle_trans with (/ 256 * (grid / 2)); [apply Rmult_le_compat_r; lra|]. lra. }
  assert (eta p * farthest * (1 + eta p) <= (/ 128 * scale + / 256 * scale) * (1 + / 256)).
  { apply Rmult_le_compat; try lra. apply Rmult_le_pos; lra. }
  lra.
Qed.
Lemma reach_small : 2 * eta p * (1 + reach) <= / 16.
Proof. generalize eta_reach eta_range. intros. lra. Qed.
Lemma not_wide : grid + eta p * farthest <= 21 / 10 * scale.
Proof. generalize eta_farthest. lra. Qed.
Lemma q_is : exp (- ((grid - eta p * far grid last) / scale)) <= q. Proof. right. reflexivity. Qed.
Lemma reach_is : far grid last * (1 + eta p) + half <= reach * scale.
Proof. right. unfold reach. fold farthest. field. lra. Qed.
Lemma edges k : (- last < k <= last)%Z -> generic_format radix2 (FLX_exp p) (edge_of grid k).
Proof.
  intro Hk. apply generic_format_FLX. exists (Float radix2 (2 * k - 1) (exponent - 1)).
  - unfold F2R, edge_of, grid. cbn [Fnum Fexp]. rewrite minus_IZR, mult_IZR. replace (exponent - 1)%Z with (exponent + -1)%Z by ring. rewrite bpow_plus. replace (bpow radix2 (-1)) with (/ 2) by (simpl; lra). lra.
  - cbn [Fnum]. apply lt_IZR. rewrite abs_IZR.
    assert (IZR last < bpow radix2 (p - 7) + 1) as HK.
    { generalize last_range grid_positive. intros [_ H2] Hg. apply Rlt_le_trans with (1 := H2). apply Rplus_le_compat_r.
      apply Rmult_le_reg_r with grid; auto. replace (half / grid * grid) with half by (field; lra).
      apply Rle_trans with (bpow radix2 (p - 7) * scale); [lra|]. apply Rmult_le_compat_l; [apply bpow_ge_0|lra]. }
    assert (Rabs (IZR (2 * k - 1)) <= 2 * IZR last) as H1.
    { rewrite minus_IZR, mult_IZR. destruct Hk as [Ha Hb]. assert (- last + 1 <= k)%Z as Ha' by lia.
      apply IZR_le in Ha'. rewrite plus_IZR, opp_IZR in Ha'. apply IZR_le in Hb. unfold Rabs. destruct Rcase_abs; lra. }
    apply Rle_lt_trans with (1 := H1).
    change (IZR (radix2 ^ p)) with (IZR (Zpower radix2 p)). rewrite IZR_Zpower by lia.
    replace p with ((p - 7) + 7)%Z at 1 by ring. rewrite bpow_plus.
    replace (bpow radix2 7) with 128 by (simpl; lra).
    assert (1 <= bpow radix2 (p - 7)). { apply (bpow_le radix2 0). lia. } lra.
Qed.
Lemma down_lt_1 : down p q reach < 1.
Proof.
  generalize q_half q_range eta_reach eta_range reach_range. intros Hq [Hq0 _] HR [He0 He] HR0.
  assert (kappa p reach <= 1 / 10) as Hk.
  { unfold kappa. set (x := _ + 2 * eta p). assert (x <= 7 / 128) as Hx.
    { unfold x. assert (reach * (2 * eta p + eta p * eta p) / ((1 + eta p) * (1 + eta p)) <= reach * (2 * eta p)).
      { apply Rmult_le_reg_r with ((1 + eta p) * (1 + eta p)); [nra|].
        replace (reach * (2 * eta p + eta p * eta p) / ((1 + eta p) * (1 + eta p)) * ((1 + eta p) * (1 + eta p))) with (reach * eta p * (2 + eta p)) by (field; nra).
        assert (0 <= reach * eta p) by (apply Rmult_le_pos; lra). nra. }
      lra. }
    assert (exp x * (1 - x) <= 1). { generalize (exp_ge (- x)). intro h. apply (Rmult_le_compat_l (exp x)) in h; [|left; apply exp_pos].
      rewrite <- exp_plus in h. replace (x + - x) with 0 in h by ring. rewrite exp_0 in h. lra. }
    assert (0 < exp x) by apply exp_pos. nra. }
  assert (mu p reach <= 1 / 10) as Hm.
  { unfold mu. set (x := _ / _). assert (x <= 6 / 100) as Hx.
    { unfold x. apply Rmult_le_reg_r with ((1 - eta p) * (1 - eta p)); [nra|].
      replace (reach * (2 * eta p - eta p * eta p) / ((1 - eta p) * (1 - eta p)) * ((1 - eta p) * (1 - eta p))) with (reach * eta p * (2 - eta p)) by (field; nra).
      assert (0 <= reach * eta p) by (apply Rmult_le_pos; lra). nra. }
    generalize (exp_ge (- x)). lra. }
  unfold down. apply Rmax_lub_lt.
  - apply Rmult_lt_reg_r with (1 - q); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    assert (q * kappa p reach <= / 2 * (1 / 10)).
    { apply Rle_trans with (q * (1 / 10)); [apply Rmult_le_compat_l; lra|]. apply Rmult_le_compat_r; lra. } lra.
  - unfold down0. assert (q * (1 - ln q) <= 1).
    { generalize (ln_ge q (proj1 q_range)). intro. lra. }
    apply Rmult_lt_reg_r with (1 - q); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    assert (2 * eta p * (1 + 8 * eta p) <= 1 / 100) by nra.
    assert (0 <= 2 * eta p * (1 + 8 * eta p)) by nra. nra.
Qed.

Theorem precision_private_for_code d d' D : Rabs d <= half -> Rabs d' <= half -> Rabs (d - d') <= D ->
  dp (D / scale + (ln (1 + up p q reach) - ln (1 - down p q reach))) (precision_law p scale grid last d) (precision_law p scale grid last d').
Proof.
  intros. apply precision_dp with (half := half); auto.
  - apply q_range. - apply reach_range. - apply reach_small. - apply grid_positive. - apply last_positive. - apply edges. - apply reach_is. - apply q_is.
  - apply not_wide. - apply down_lt_1.
Qed.

(* Mass 1: telescopes. *)
Definition above (d : R) (j : Z) : R := if (j <=? - last)%Z then 1 else if (last <? j)%Z then 0 else tail_at p scale grid d j.
Lemma law_is d j : (- last <= j <= last)%Z -> precision_law p scale grid last d j = above d j - above d (j + 1).
Proof.
  intro H. generalize last_positive. intro HK. unfold precision_law, above.
  destruct (Z.leb_spec (Z.abs j) last); [|lia].
  destruct (Z.leb_spec j (- last)), (Z.leb_spec (j + 1) (- last)); try lia;
  destruct (Z.leb_spec last j), (Z.ltb_spec last (j + 1)), (Z.ltb_spec last j); try lia; lra.
Qed.
Theorem precision_total d : Rabs d <= half -> total (precision_law p scale grid last d).
Proof.
  intro Hd. generalize last_positive. intro HK.
  assert (summable (precision_law p scale grid last d)) as HS.
  { apply precision_summable with (q := q) (reach := reach) (half := half); auto;
    first [apply q_range | apply reach_range | apply reach_small | apply grid_positive | apply last_positive | apply edges | apply reach_is | apply q_is | apply not_wide | apply down_lt_1]. }
  set (r := zrange (- last) (Z.to_nat (2 * last + 1))).
  assert (sumf (precision_law p scale grid last d) r = 1) as H1.
  { unfold r. rewrite (sumf_eq _ (fun j => (fun k => - above d k) (j + 1)%Z - (fun k => - above d k) j)).
    - rewrite (sumf_telescope (fun k => - above d k)). unfold above.
      replace (- last + Z.of_nat (Z.to_nat (2 * last + 1)))%Z with (last + 1)%Z by lia.
      destruct (Z.leb_spec (last + 1) (- last)), (Z.leb_spec (- last) (- last)), (Z.ltb_spec last (last + 1)); try lia. lra.
    - intros j Hj. apply in_zrange in Hj. rewrite law_is by lia. lra. }
  assert (law (precision_law p scale grid last d)) as HL.
  { split; [apply HS|]. intros l Hl. rewrite <- H1. apply sub_sum; auto; [apply HS|apply zrange_NoDup|].
    intros j _ Hj. unfold r in Hj. rewrite in_zrange in Hj. unfold precision_law. destruct (Z.leb_spec (Z.abs j) last); [lia|auto]. }
  split; auto. apply Rle_antisym; [now apply Pr_le_1|]. rewrite <- H1. apply Pr_ub; auto. apply zrange_NoDup.
Qed.

(** ** The algorithm *)
Notation rounded := (Generic_fmt.round radix2 (FLX_exp p) ZnearestE).
Notation noise_magnitude := (magnitude p scale).

(** z = RN(d + S n), n = RN(scale RN(ln U_cut)); [true] is S = +1. The magnitude is -n. *)
Definition noisy (d : R) (sign : bool) (u : R) : R :=
  rounded (if sign then d - noise_magnitude u else d + noise_magnitude u).
Definition clamp_index (k : Z) : Z := Z.max (- last) (Z.min last k).
Definition clamped_index (d : R) (sign : bool) (u : R) : Z := clamp_index (Rounding.index grid (noisy d sign u)).

Definition reaches (d : R) (s : bool) (k : Z) (u : R) : Prop :=
  if (k <=? - last)%Z then True else if (last <? k)%Z then False else edge_of grid k <= noisy d s u.

Lemma index_reached d s j u : (- last <= j <= last)%Z ->
  ind (clamped_index d s u = j) = ind (reaches d s j u) - ind (reaches d s (j + 1) u).
Proof.
  intro Hj. pose proof last_positive as HK.
  pose proof (Rounding.index_ge grid (noisy d s u) j grid_positive) as H1.
  pose proof (Rounding.index_ge grid (noisy d s u) (j + 1) grid_positive) as H2.
  change ((IZR j - / 2) * grid) with (edge_of grid j) in H1. change ((IZR (j + 1) - / 2) * grid) with (edge_of grid (j + 1)) in H2.
  unfold clamped_index, clamp_index, reaches, ind.
  destruct (Z.leb_spec j (- last)), (Z.leb_spec (j + 1) (- last)), (Z.ltb_spec last j), (Z.ltb_spec last (j + 1)); try lia;
  repeat destruct decide; try lra; try tauto; exfalso; rewrite <- ?H1, <- ?H2 in *; lia.
Qed.

Theorem clamped_index_has_law d j : Rabs d <= half -> (- last <= j <= last)%Z ->
  sampled (fun s u => clamped_index d s u = j) (precision_law p scale grid last d j).
Proof.
  intros Hd Hj. pose proof last_positive as HK.
  assert (forall k, exists a b, uniform (reaches d false k) a /\ uniform (reaches d true k) b /\ (a + b) / 2 = above d k) as HE.
  { intro k. unfold reaches, above, noisy.
    destruct (Z.leb_spec k (- last)); [|destruct (Z.ltb_spec last k)].
    - exists 1, 1. repeat split; try lra; apply uniform_always; auto.
    - exists 0, 0. repeat split; try lra; apply uniform_never; auto.
    - destruct (tail_exists p p_large scale scale_positive d (edge_of grid k)) as (T0 & (c1 & c2 & U1 & U2 & E) & _).
      + apply edges; lia.
      + exists c1, c2. split; [exact U1|]. split; [exact U2|]. unfold tail_at, uniform in *.
        rewrite (is_RInt_unique _ _ _ _ U1), (is_RInt_unique _ _ _ _ U2). auto. }
  destruct (HE j) as (a & b & A1 & A2 & A3). destruct (HE (j + 1)%Z) as (a' & b' & B1 & B2 & B3).
  exists (b - b'), (a - a'). split; [|split].
  - generalize (is_RInt_minus (V := R_NormedModule) _ _ 0 1 _ _ A2 B2). unfold minus, plus, opp; simpl. intro H.
    eapply is_RInt_ext; [|exact H]. intros u _. simpl. rewrite index_reached by auto. reflexivity.
  - generalize (is_RInt_minus (V := R_NormedModule) _ _ 0 1 _ _ A1 B1). unfold minus, plus, opp; simpl. intro H.
    eapply is_RInt_ext; [|exact H]. intros u _. simpl. rewrite index_reached by auto. reflexivity.
  - rewrite law_is by lia. lra.
Qed.

(** Centering, the clamp of the value, the clamp of the output, and the rounding to a double, whatever it is. *)
Section Output.
Variables (center : R) (round_to_double : R -> R).
Definition centered (value : R) : R := clamp (- half) half (value - center).
Definition output_of (k : Z) : R := round_to_double (center + clamp (- half) half (grid * IZR k)).
Definition run_precision (value : R) (sign : bool) (u : R) : R :=
  output_of (Rounding.index grid (noisy (centered value) sign u)).
Definition precision_output_law (value : R) : R -> R :=
  push output_of (precision_law p scale grid last (centered value)).

Lemma centered_range value : Rabs (centered value) <= half.
Proof. unfold centered. apply Rabs_le. apply clamp_range. lra. Qed.

Lemma output_of_clamped k : output_of (clamp_index k) = output_of k.
Proof.
  generalize last_range grid_positive last_positive. intros [H1 _] Hg H3. unfold output_of, clamp_index. do 2 f_equal.
  assert (half <= grid * IZR last) as HB.
  { apply (Rmult_le_compat_l grid) in H1; [|lra]. replace (grid * (half / grid)) with half in H1 by (field; lra). exact H1. }
  assert (forall a b, (a <= b)%Z -> grid * IZR a <= grid * IZR b) as HM.
  { intros a b Hab. apply Rmult_le_compat_l; [lra|now apply IZR_le]. }
  destruct (Z_le_gt_dec k (- last)) as [h|h]; [|destruct (Z_le_gt_dec last k) as [h'|h']].
  - replace (Z.max (- last) (Z.min last k)) with (- last)%Z by lia.
    assert (grid * IZR (- last) <= - half) as E by (rewrite opp_IZR; lra).
    generalize (HM k (- last)%Z h). unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
  - replace (Z.max (- last) (Z.min last k)) with last by lia.
    generalize (HM last k h'). unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
  - do 3 f_equal. lia.
Qed.

Lemma sampled_list (E : bool -> R -> Z) (weight : Z -> R) ks : NoDup ks ->
  (forall k, In k ks -> sampled (fun s u => E s u = k) (weight k)) ->
  sampled (fun s u => In (E s u) ks) (sumf weight ks).
Proof.
  induction 1 as [|k ks Hk Hks IH]; intro H.
  - exists 0, 0. simpl. repeat split; try lra; apply uniform_never; auto.
  - destruct (H k (or_introl eq_refl)) as (a & b & Ha & Hb & E1).
    destruct IH as (a' & b' & Ha' & Hb' & E2); [intros; apply H; now right|].
    assert (forall s c c', uniform (fun u => E s u = k) c -> uniform (fun u => In (E s u) ks) c' ->
      uniform (fun u => In (E s u) (k :: ks)) (c + c')) as HU.
    { intros s c c' Hc Hc'.
      generalize (is_RInt_plus (V := R_NormedModule) _ _ 0 1 _ _ Hc Hc'). unfold plus; simpl. intro HI.
      eapply is_RInt_ext; [|exact HI]. intros u _. simpl. unfold ind.
      destruct (decide (E s u = k)) as [e|e], (decide (In (E s u) ks)) as [i|i], (decide (k = E s u \/ In (E s u) ks)) as [o|o];
        try lra; exfalso; try (apply Hk; rewrite <- e; exact i); intuition. }
    exists (a + a'), (b + b'). split; [|split].
    + now apply HU.
    + now apply HU.
    + simpl. rewrite E1, E2. lra.
Qed.

Lemma precision_summable_here d : Rabs d <= half -> summable (precision_law p scale grid last d).
Proof. intro Hd. apply law_summable. now apply precision_total. Qed.

(** The outputs have the law that the loss is shown of. *)
Theorem run_precision_has_law value out :
  sampled (fun s u => run_precision value s u = out) (precision_output_law value out).
Proof.
  set (d := centered value). pose proof (centered_range value) as Hd. fold d in Hd.
  pose proof (precision_summable_here d Hd) as HS. pose proof last_positive as HK.
  destruct (split_list (fun k => output_of k = out) (zrange (- last) (Z.to_nat (2 * last + 1))) (zrange_NoDup _ _))
    as (ks & rest & Hks & Hrest & HP & Hin & Hnot).
  assert (precision_output_law value out = sumf (precision_law p scale grid last d) ks) as ->.
  { unfold precision_output_law, push. fold d. apply Rle_antisym.
    - apply Pr_lub; auto. intros l Hl HT. apply sub_sum; auto; [apply HS|].
      intros k Hk Hn. unfold precision_law. destruct (Z.leb_spec (Z.abs k) last) as [h|h]; auto. exfalso.
      assert (In k (ks ++ rest)) as Hi.
      { eapply Permutation.Permutation_in; [exact HP|]. apply in_zrange. lia. }
      apply in_app_or in Hi. destruct Hi as [Hi|Hi]; auto. apply (Hnot k Hi). auto.
    - apply Pr_ub; auto. }
  apply sampled_ext with (E := fun s u => In (clamped_index d s u) ks).
  - intros s u _. unfold run_precision. fold d. rewrite <- output_of_clamped. fold (clamped_index d s u).
    assert (- last <= clamped_index d s u <= last)%Z as Hr by (unfold clamped_index, clamp_index; lia).
    split; intro H; [now apply Hin|].
    assert (In (clamped_index d s u) (ks ++ rest)) as Hi.
    { eapply Permutation.Permutation_in; [exact HP|]. apply in_zrange. lia. }
    apply in_app_or in Hi. destruct Hi as [Hi|Hi]; auto. exfalso. now apply (Hnot _ Hi).
  - apply sampled_list; auto. intros k Hk. apply clamped_index_has_law; auto.
    assert (In k (zrange (- last) (Z.to_nat (2 * last + 1)))) as Hi.
    { eapply Permutation.Permutation_in; [apply Permutation.Permutation_sym, HP|]. apply in_or_app. auto. }
    apply in_zrange in Hi. lia.
Qed.

(** The loss that is proved, as a function of p, grid, scale and half alone: what is added to distance / scale. *)
Definition excess : R := ln (1 + up p q reach) - ln (1 - down p q reach).

Theorem precision_mode :
  (forall value, total (precision_output_law value)) /\
  (forall value out, sampled (fun s u => run_precision value s u = out) (precision_output_law value out)) /\
  (forall distance value value', Rabs (value - value') <= distance ->
    dp (distance / scale + excess) (precision_output_law value) (precision_output_law value')).
Proof.
  split; [|split].
  - intro value. apply push_total, precision_total, centered_range.
  - apply run_precision_has_law.
  - intros distance value value' H.
    apply post_processing_dp; try (apply precision_summable_here, centered_range).
    apply precision_private_for_code; try apply centered_range.
    apply Rle_trans with (2 := H). unfold centered. apply Rle_trans with (1 := clamp_stable _ _ _ _).
    right. f_equal. ring.
Qed.

(** Several numbers, each noised by itself: the excess counts for every number that differs. *)
Definition differing (ys ys' : list R) : R := sumf (fun yy => ind (fst yy <> snd yy)) (combine ys ys').
Definition precision_vector_law (values : list R) : list R -> R := joint (map precision_output_law values).

Theorem precision_mode_vectors :
  (forall values, total (precision_vector_law values)) /\
  (forall values values', length values = length values' ->
    dp (l1 values values' / scale + differing values values' * excess)
      (precision_vector_law values) (precision_vector_law values')).
Proof.
  destruct precision_mode as (Ht & _ & Hp). split.
  - intro values. apply joint_total. intros p0 Hp0. apply in_map_iff in Hp0. destruct Hp0 as (y & <- & _). apply Ht.
  - intros values values' HL.
    set (loss := fun yy : R * R => Rabs (fst yy - snd yy) / scale + ind (fst yy <> snd yy) * excess).
    assert (l1 values values' / scale + differing values values' * excess = losses (map loss (combine values values'))) as ->.
    { unfold differing. revert values' HL. induction values as [|y ys IH]; intros [|y' ys'] HL; simpl in *; try discriminate.
      - field. lra.
      - rewrite <- IH by lia. unfold loss. simpl. field. lra. }
    apply joint_dp.
    + intros p0 Hp0. apply in_map_iff in Hp0. destruct Hp0 as (y & <- & _). apply Ht.
    + intros p0 Hp0. apply in_map_iff in Hp0. destruct Hp0 as (y & <- & _). apply Ht.
    + revert values' HL. induction values as [|y ys IH]; intros [|y' ys'] HL; simpl in *; try discriminate; constructor; auto.
      unfold loss. simpl. destruct (decide (y = y')) as [<-|h].
      * rewrite ind_false by tauto. rewrite Rminus_diag_eq, Rabs_R0 by auto. replace (0 / scale + 0 * excess) with 0 by (field; lra).
        intro S. rewrite exp_0. lra.
      * rewrite ind_true by auto. rewrite Rmult_1_l. apply Hp. lra.
    + now rewrite !map_length.
Qed.
End Output.
End Constructor.

(** What the notes claim is at most epsilon: epsilon' is rounded down and the scale up. (The claim itself is not proved.) *)
Theorem notes_claim_is_spent epsilon sensitivity half eta inner scale :
  0 < sensitivity -> 0 <= half -> 0 < eta -> 0 < inner -> 0 < scale ->
  inner <= (epsilon - 2 * eta) / (1 + 12 * (half / sensitivity) * eta) -> sensitivity / inner <= scale ->
  sensitivity / scale + 12 * half * eta / scale + 2 * eta <= epsilon.
Proof.
  intros Hs Hh He Hi Hl H1 H2.
  assert (0 <= half / sensitivity * eta) as H0.
  { apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; auto. left. now apply Rinv_0_lt_compat. }
  assert (sensitivity / scale <= inner) as H3.
  { apply Rmult_le_reg_r with scale; auto. replace (sensitivity / scale * scale) with sensitivity by (field; lra).
    apply (Rmult_le_compat_l inner) in H2; [|lra]. replace (inner * (sensitivity / inner)) with sensitivity in H2 by (field; lra). exact H2. }
  set (factor := 1 + 12 * (half / sensitivity) * eta) in *.
  assert (1 <= factor) as HF by (unfold factor; lra).
  apply (Rmult_le_compat_r factor) in H1; [|lra].
  replace ((epsilon - 2 * eta) / factor * factor) with (epsilon - 2 * eta) in H1 by (field; lra).
  replace (sensitivity / scale + 12 * half * eta / scale) with (sensitivity / scale * factor) by (unfold factor; field; lra).
  assert (sensitivity / scale * factor <= inner * factor) by (apply Rmult_le_compat_r; lra).
  lra.
Qed.
