(** Privacy as dilation: the definitions of "Verifying Snapping Mechanism" as
    repaired in proofs/snapping.md, and both propositions. *)
From Coq Require Import Reals ZArith List Lra Lia Permutation.
From Coquelicot Require Import Coquelicot.
From SnapDP Require Import Law Rounding Laplace Snapping Datasets.
Import ListNotations.
Open Scope R_scope.

Ltac solve_ring := match goal with |- @eq _ ?a ?b => change (@eq R a b); ring end.

(** e^s * E *)
Definition dilate (s : R) (E : R -> Prop) (v : R) : Prop := E (exp (- s) * v).

Section Definitions.
(** A set function on (0, oo); only that it respects equal sets is asked of it. *)
Variable mu : (R -> Prop) -> R.
Definition extensional := forall E E' : R -> Prop, (forall v, 0 < v -> (E v <-> E' v)) -> mu E = mu E'.

(** D_eps(mu; family, r) <= delta *)
Definition dilation_private (family : (R -> Prop) -> Prop) (eps r delta : R) : Prop :=
  forall E s, family E -> Rabs s <= r -> mu E - exp eps * mu (dilate s E) <= delta.
End Definitions.

Section Snap.
Variables scale grid : R.
Hypothesis scale_positive : 0 < scale.
Hypothesis grid_positive : 0 < grid.

(** Outputs: [out] is any public function of the noisy value, as that of snapping and clamping. *)
Section Out.
Context {O : Type} (out : R -> O).
Definition outputs_set (value : R) (outputs : O -> Prop) (v : R) : Prop := 0 < v /\ outputs (out (value + scale * ln v)).

Lemma scaled_positive s v : 0 < exp s * v <-> 0 < v.
Proof.
  generalize (exp_pos s). intro He. split; intro H.
  - apply Rmult_lt_reg_l with (exp s); auto. lra.
  - now apply Rmult_lt_0_compat.
Qed.

(** Moving the value dilates: I(value + t) = e^(-t/scale) I(value), whatever the outputs are. *)
Theorem moving_dilates value t outputs v :
  outputs_set (value + t) outputs v <-> dilate (- (t / scale)) (outputs_set value outputs) v.
Proof.
  unfold dilate, outputs_set. rewrite Ropp_involutive, scaled_positive.
  split; intros [Hv H]; split; auto; revert H; rewrite ln_mult, ln_exp by (auto; apply exp_pos);
    replace (value + scale * (t / scale + ln v)) with (value + t + scale * ln v) by (field; lra); auto.
Qed.

(** Proposition 1: dilation privacy gives privacy of the outputs. *)
Theorem dilation_gives_privacy mu eps delta distance : extensional mu ->
  (forall value, dilation_private mu (fun E => exists outputs, E = outputs_set value outputs) eps (distance / scale) delta) ->
  forall value value' outputs, Rabs (value - value') <= distance ->
    mu (outputs_set value outputs) <= exp eps * mu (outputs_set value' outputs) + delta.
Proof.
  intros Hm Hd value value' outputs H.
  assert (mu (outputs_set value' outputs) = mu (dilate ((value - value') / scale) (outputs_set value outputs))) as ->.
  { apply Hm. intros v _. replace value' with (value + (value' - value)) at 1 by ring. rewrite moving_dilates.
    replace (- ((value' - value) / scale)) with ((value - value') / scale) by (field; lra). reflexivity. }
  assert (mu (outputs_set value outputs) - exp eps * mu (dilate ((value - value') / scale) (outputs_set value outputs)) <= delta); [|lra].
  apply (Hd value); [now exists outputs|].
  unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ scale)) by (left; now apply Rinv_0_lt_compat).
  apply Rmult_le_compat_r; auto. left. now apply Rinv_0_lt_compat.
Qed.
End Out.

(** Output intervals of snapping: half-open, with the sign in the exponent. *)
Theorem output_interval value k v : 0 < v ->
  outputs_set (index grid) value (fun j => j = k) v <->
  exp ((edge grid k - value) / scale) <= v < exp ((edge grid (k + 1) - value) / scale).
Proof.
  intro Hv. unfold outputs_set. rewrite index_spec by auto. rewrite edge_next. unfold edge at 1.
  assert (forall x, x <= value + scale * ln v <-> exp ((x - value) / scale) <= v) as H1.
  { intro x. split; intro H.
    - rewrite <- (exp_ln v) by auto.
      assert ((x - value) / scale <= ln v) as [h|h]; [|left; now apply exp_increasing|rewrite h; lra].
      apply Rmult_le_reg_l with scale; auto. replace (scale * ((x - value) / scale)) with (x - value) by (field; lra). lra.
    - apply Rnot_lt_le. intro h. revert H. apply Rlt_not_le. rewrite <- (exp_ln v) at 1 by auto.
      apply exp_increasing. apply Rmult_lt_reg_l with scale; auto.
      replace (scale * ((x - value) / scale)) with (x - value) by (field; lra). lra. }
  specialize (H1 ((IZR k - / 2) * grid)) as Ha. specialize (H1 ((IZR k + / 2) * grid)) as Hb.
  split.
  - intros [_ [A B]]. split; [tauto|]. apply Rnot_le_lt. intro h. apply Hb in h. lra.
  - intros [A B]. split; auto. split; [tauto|]. apply Rnot_le_lt. intro h. apply Hb in h. lra.
Qed.

(** ** The inner content of a set under the law of V = U^outputs. It is defined for all sets and is not countably additive on all of
    them; on the sets that outputs come from it is their probability (the last theorem but one).
    x = ln V has the Laplace law of scale 1; inner_content(E) is the least upper bound of the probabilities
    of finitely many disjoint half-open intervals of x that lie in E. *)
Definition interval_in (x : R) (ab : R * R) : Prop := fst ab <= x < snd ab.
Definition pack (l : list (R * R)) : Prop :=
  (forall ab, In ab l -> fst ab <= snd ab) /\
  (forall x, sumf (fun ab => ind (interval_in x ab)) l <= 1).
Definition mass (l : list (R * R)) : R := sumf (fun ab => cdf 1 (snd ab) - cdf 1 (fst ab)) l.
Definition inside (E : R -> Prop) (l : list (R * R)) : Prop :=
  forall ab x, In ab l -> interval_in x ab -> E (exp x).
Definition masses (E : R -> Prop) (m : R) : Prop := exists l, pack l /\ inside E l /\ m = mass l.
Definition inner_content (E : R -> Prop) : R := real (Lub_Rbar (masses E)).

Lemma one_pos : 0 < 1. Proof. lra. Qed.

(** The mass of a list of intervals is the integral of how often they cover, times the density. *)
Lemma mass_integral l c d : c <= d -> (forall ab, In ab l -> fst ab <= snd ab) ->
  (forall ab, In ab l -> c <= fst ab /\ snd ab <= d) ->
  is_RInt (fun x => sumf (fun ab => ind (interval_in x ab)) l * density 1 x) c d (mass l).
Proof.
  intro Hcd. induction l as [|[a b] l IH]; intros Hl Hw.
  - unfold mass. simpl. generalize (is_RInt_const (V := R_NormedModule) c d 0).
    replace (scal (d - c) (0 : R_NormedModule)) with 0 by (unfold scal; simpl; unfold mult; simpl; ring).
    intro H. eapply is_RInt_ext; [|exact H]. intros x _. simpl. solve_ring.
  - assert (a <= b) as Hab by (apply (Hl (a, b)); simpl; auto).
    assert (c <= a /\ b <= d) as [Hca Hbd] by (apply (Hw (a, b)); simpl; auto).
    assert (is_RInt (fun x => ind (interval_in x (a, b)) * density 1 x) c d (cdf 1 b - cdf 1 a)) as Hone.
    { replace (cdf 1 b - cdf 1 a)
        with (@plus R_AbelianGroup (@plus R_AbelianGroup 0 (cdf 1 b - cdf 1 a)) 0) by (unfold plus; simpl; ring).
      assert (forall p q, p <= q -> (forall x, p < x < q -> ~ interval_in x (a, b)) ->
        is_RInt (fun x => ind (interval_in x (a, b)) * density 1 x) p q 0) as Hz.
      { intros p q Hpq Hn. generalize (is_RInt_const (V := R_NormedModule) p q 0).
        replace (scal (q - p) (0 : R_NormedModule)) with 0 by (unfold scal; simpl; unfold mult; simpl; ring).
        intro H. eapply is_RInt_ext; [|exact H]. intros x Hx. rewrite Rmin_left, Rmax_right in Hx by auto.
        rewrite ind_false by auto. solve_ring. }
      apply (is_RInt_Chasles (V := R_NormedModule) _ c b d); [apply (is_RInt_Chasles (V := R_NormedModule) _ c a b)|].
      - apply Hz; auto. unfold interval_in. simpl. intros; lra.
      - eapply is_RInt_ext; [|exact (is_RInt_density 1 one_pos a b Hab)].
        intros x Hx. rewrite Rmin_left, Rmax_right in Hx by auto.
        rewrite ind_true by (unfold interval_in; simpl; lra). solve_ring.
      - apply Hz; auto. unfold interval_in. simpl. intros; lra. }
    specialize (IH (fun ab h => Hl ab (or_intror h)) (fun ab h => Hw ab (or_intror h))).
    generalize (is_RInt_plus (V := R_NormedModule) _ _ c d _ _ Hone IH). unfold plus; simpl.
    intro H. eapply is_RInt_ext; [|exact H]. intros x _. simpl. unfold plus. simpl. solve_ring.
Qed.

(** The mass of a packing inside a window is at most the window's. *)
Lemma pack_window l c d : pack l -> c <= d -> (forall ab, In ab l -> c <= fst ab /\ snd ab <= d) ->
  mass l <= cdf 1 d - cdf 1 c.
Proof.
  intros [Hl H1] Hcd Hw.
  apply (is_RInt_le _ (density 1) c d _ _ Hcd (mass_integral l c d Hcd Hl Hw) (is_RInt_density 1 one_pos c d Hcd)).
  intros x _. rewrite <- (Rmult_1_l (density 1 x)) at 2.
  apply Rmult_le_compat_r; auto. left. apply density_pos. lra.
Qed.

Lemma list_window (l : list (R * R)) : exists c d, c <= d /\ forall ab, In ab l -> c <= fst ab /\ snd ab <= d.
Proof.
  induction l as [|[a b] l (c & d & Hcd & H)].
  - exists 0, 0. simpl. split; [lra|tauto].
  - exists (Rmin a c), (Rmax b d). split.
    + generalize (Rmin_r a c) (Rmax_r b d). lra.
    + intros ab [<-|Hi]; simpl.
      * split; [apply Rmin_l|apply Rmax_l].
      * specialize (H ab Hi). generalize (Rmin_r a c) (Rmax_r b d). lra.
Qed.

Lemma mass_le_1 l : pack l -> mass l <= 1.
Proof.
  intro H. destruct (list_window l) as (c & d & Hcd & Hw).
  generalize (pack_window l c d H Hcd Hw) (cdf_range 1 one_pos c) (cdf_range 1 one_pos d). lra.
Qed.

Lemma inner_content_is_lub E : is_lub (masses E) (inner_content E).
Proof.
  assert (is_ub_Rbar (masses E) 1) as Hb.
  { intros x (l & Hl & _ & ->). simpl. now apply mass_le_1. }
  destruct (Lub_Rbar_correct (masses E)) as [Hub Hl].
  assert (Rbar_le 0 (Lub_Rbar (masses E))) as H0.
  { apply Hub. exists []. split; [split|split].
    - simpl. tauto.
    - intro x. simpl. lra.
    - intros ab x [].
    - reflexivity. }
  unfold inner_content. specialize (Hl 1 Hb) as Hl1.
  destruct (Lub_Rbar (masses E)) as [r| |]; simpl in *; try tauto.
  split; [exact Hub|]. intros b Hbb. apply (Hl (Finite b)). intros x Hx. simpl. now apply Hbb.
Qed.

Lemma inner_content_ext : extensional inner_content.
Proof.
  intros E E' H.
  assert (forall F F' : R -> Prop, (forall v, 0 < v -> F v -> F' v) -> inner_content F <= inner_content F') as HM.
  { intros F F' HF. apply (proj2 (inner_content_is_lub F)). intros m (l & Hl & Hi & ->).
    apply (proj1 (inner_content_is_lub F')). exists l. repeat split; try apply Hl.
    intros ab x Ha Hx. apply HF; [apply exp_pos|]. eapply Hi; eauto. }
  apply Rle_antisym; apply HM; intros v Hv; apply H; auto.
Qed.

(** Proposition 2: this law has D_eps = 0 for all sets and all reaches up to eps. *)
Theorem all_dilations eps r : r <= eps -> dilation_private inner_content (fun _ => True) eps r 0.
Proof.
  intros Hr E s _ Hs.
  assert (inner_content E <= exp eps * inner_content (dilate s E)); [|lra].
  apply (proj2 (inner_content_is_lub E)). intros m (l & [Hl H1] & Hi & ->).
  set (l' := map (fun ab => (fst ab + s, snd ab + s)) l).
  assert (mass l' <= inner_content (dilate s E)) as HU.
  { apply (proj1 (inner_content_is_lub _)). exists l'. split; [split|split; auto].
    - intros ab Hab. apply in_map_iff in Hab. destruct Hab as ([a b] & <- & Hab). simpl.
      specialize (Hl _ Hab). simpl in Hl. lra.
    - intro x. unfold l'. rewrite sumf_map. apply Rle_trans with (2 := H1 (x - s)).
      apply sumf_le. intros [a b] _. right. apply ind_iff. unfold interval_in. simpl. split; lra.
    - intros ab x Hab Hx. apply in_map_iff in Hab. destruct Hab as ([a b] & <- & Hab).
      unfold dilate. rewrite <- exp_plus. apply (Hi (a, b) (- s + x)); auto.
      unfold interval_in in *. simpl in *. lra. }
  apply Rle_trans with (exp eps * mass l').
  2:{ apply Rmult_le_compat_l; auto. left. apply exp_pos. }
  unfold mass, l'. rewrite sumf_map, <- sumf_scal. apply sumf_le. intros [a b] Hab. simpl.
  specialize (Hl _ Hab). simpl in Hl.
  generalize (prob_ratio_finite 1 one_pos s 0 (a + s) (b + s) ltac:(lra)).
  replace (b + s - s) with b by ring. replace (a + s - s) with a by ring. rewrite !Rminus_0_r.
  intro H. apply Rle_trans with (1 := H). apply Rmult_le_compat_r.
  - assert (cdf 1 (a + s) <= cdf 1 (b + s)) by (apply cdf_le; lra). lra.
  - unfold factor. rewrite Rminus_0_r. unfold Rdiv. rewrite Rinv_1, Rmult_1_r.
    assert (Rabs s <= eps) as [h|h] by lra; [left; now apply exp_increasing|rewrite h; lra].
Qed.

(** ** On output intervals this measure is the law of the outputs. *)
Definition bin (value : R) (k : Z) : R * R := ((edge grid k - value) / scale, (edge grid (k + 1) - value) / scale).

Lemma cdf_scale x : cdf 1 (x / scale) = cdf scale x.
Proof.
  destruct (Rle_or_lt x 0) as [H|H].
  - rewrite (cdf_neg scale x) by auto. rewrite cdf_neg.
    + f_equal. f_equal. field. lra.
    + now apply div_neg.
  - rewrite (cdf_pos scale scale_positive x), (cdf_pos 1 one_pos) by (left; try apply Rdiv_lt_0_compat; auto).
    f_equal. f_equal. f_equal. field. lra.
Qed.

Lemma mass_bins value ks : mass (map (bin value) ks) = sumf (snap_law scale grid value) ks.
Proof.
  unfold mass. rewrite sumf_map. apply sumf_eq. intros k _. unfold bin. simpl.
  now rewrite !cdf_scale, snap_law_cdf.
Qed.

Lemma in_bin value k x : interval_in x (bin value k) <-> index grid (value + scale * x) = k.
Proof.
  rewrite index_spec by auto. unfold interval_in, bin. simpl. rewrite edge_next. unfold edge.
  assert (forall z, (z - value) / scale <= x <-> z <= value + scale * x) as H.
  { intro z. split; intro h.
    - apply (Rmult_le_compat_l scale) in h; [|lra]. replace (scale * ((z - value) / scale)) with (z - value) in h by (field; lra). lra.
    - apply Rmult_le_reg_l with scale; auto. replace (scale * ((z - value) / scale)) with (z - value) by (field; lra). lra. }
  rewrite (H ((IZR k - / 2) * grid)).
  assert (x < ((IZR k + / 2) * grid - value) / scale <-> value + scale * x < (IZR k + / 2) * grid) as H'.
  { generalize (H ((IZR k + / 2) * grid)). intro h.
    split; intro h'; apply Rnot_le_lt; intro h2; [apply h in h2|apply h in h2]; lra. }
  tauto.
Qed.

Lemma bins_pack value ks : NoDup ks -> pack (map (bin value) ks).
Proof.
  intro Hk. split.
  - intros ab H. apply in_map_iff in H. destruct H as (k & <- & _). simpl.
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. generalize (edge_le grid grid_positive k (k + 1) ltac:(lia)). lra.
  - intro x. rewrite sumf_map.
    rewrite (sumf_eq _ (fun k => ind (index grid (value + scale * x) = k))).
    + now apply sumf_pick_le.
    + intros k _. apply ind_iff. apply in_bin.
Qed.

Theorem inner_content_outputs value outputs : inner_content (outputs_set (index grid) value outputs) = Pr (snap_law scale grid value) outputs.
Proof.
  apply Rle_antisym.
  - apply (proj2 (inner_content_is_lub _)). intros m (l & [Hl H1] & Hi & ->).
    destruct (list_window l) as (c & d & Hcd & Hw).
    set (i := index grid (value + scale * c)). set (j := index grid (value + scale * d)).
    destruct (split_list outputs (zrange i (Z.to_nat (j - i + 1))) (zrange_NoDup _ _)) as (ks & rest & Hk & _ & HP & HS & HN).
    apply Rle_trans with (sumf (snap_law scale grid value) ks); [|apply Pr_ub; auto; now apply snap_summable].
    rewrite <- mass_bins.
    destruct (bins_pack value ks Hk) as [Hb _].
    destruct (list_window (map (bin value) ks)) as (c' & d' & Hcd' & Hw').
    assert (Rmin c c' <= Rmax d d') as Hcd2 by (generalize (Rmin_l c c') (Rmax_l d d'); lra).
    apply (is_RInt_le _ _ (Rmin c c') (Rmax d d') _ _ Hcd2
      (mass_integral l _ _ Hcd2 Hl
        (fun ab h => conj (Rle_trans _ _ _ (Rmin_l c c') (proj1 (Hw ab h))) (Rle_trans _ _ _ (proj2 (Hw ab h)) (Rmax_l d d'))))
      (mass_integral (map (bin value) ks) _ _ Hcd2 Hb
        (fun ab h => conj (Rle_trans _ _ _ (Rmin_r c c') (proj1 (Hw' ab h))) (Rle_trans _ _ _ (proj2 (Hw' ab h)) (Rmax_r d d'))))).
    intros x _. apply Rmult_le_compat_r; [left; apply density_pos; lra|].
    destruct (Classical_Prop.classic (exists ab, In ab l /\ interval_in x ab)) as [(ab & Hab & Hx)|Hno].
    + apply Rle_trans with (1 := H1 x). rewrite sumf_map.
      rewrite (sumf_eq _ (fun k => ind (index grid (value + scale * x) = k) * 1)).
      * rewrite (sumf_pick (fun _ => 1)); [lra|auto|].
        destruct (Hi ab x Hab Hx) as [_ HSx]. rewrite ln_exp in HSx.
        assert (In (index grid (value + scale * x)) (ks ++ rest)) as Hin.
        { eapply Permutation_in; [exact HP|]. apply in_zrange. destruct (Hw ab Hab) as [Hc Hd]. destruct Hx as [Hxa Hxb].
          assert (i <= index grid (value + scale * x))%Z.
          { apply index_le; auto. apply Rplus_le_compat_l, Rmult_le_compat_l; lra. }
          assert (index grid (value + scale * x) <= j)%Z.
          { apply index_le; auto. apply Rplus_le_compat_l, Rmult_le_compat_l; lra. }
          lia. }
        apply in_app_or in Hin. destruct Hin as [|Hin]; auto. exfalso. now apply (HN _ Hin).
      * intros k _. rewrite Rmult_1_r. apply ind_iff, in_bin.
    + rewrite (sumf_eq _ (fun _ => 0) l), sumf_0.
      * apply sumf_nonneg. intros. apply ind_nonneg.
      * intros ab Hab. apply ind_false. intro Hx. apply Hno. now exists ab.
  - apply Pr_lub; [now apply snap_summable|]. intros ks Hk HS. rewrite <- mass_bins.
    apply (proj1 (inner_content_is_lub _)). exists (map (bin value) ks). split; [now apply bins_pack|]. split; auto.
    intros ab x Hab Hx. apply in_map_iff in Hab. destruct Hab as (k & <- & Hk').
    split; [apply exp_pos|]. rewrite ln_exp. apply in_bin in Hx. rewrite Hx. auto.
Qed.

(** The second proof of privacy: through dilation, for every set of outputs. *)
Theorem snap_dp_by_dilation value value' distance eps : distance / scale <= eps -> Rabs (value - value') <= distance ->
  dp eps (snap_law scale grid value) (snap_law scale grid value').
Proof.
  intros He H outputs. rewrite <- !inner_content_outputs.
  generalize (dilation_gives_privacy (index grid) inner_content eps 0 distance inner_content_ext
    (fun value E s _ Hs => all_dilations eps (distance / scale) He E s I Hs) value value' outputs H). lra.
Qed.
(** The same with clamps: both clamps are functions that do not depend on the data. *)
Theorem release_dp_by_dilation lower upper value value' distance eps : distance / scale <= eps -> Rabs (value - value') <= distance ->
  dp eps (release scale grid lower upper value) (release scale grid lower upper value').
Proof.
  intros He H. apply post_processing_dp; try now apply snap_summable.
  apply snap_dp_by_dilation with distance; auto. apply Rle_trans with (2 := H). apply clamp_between_stable.
Qed.
End Snap.
