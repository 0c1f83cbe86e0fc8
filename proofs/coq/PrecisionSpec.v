(** An executable specification of precision mode, and its correctness: rows of its test vectors. *)
From Coq Require Import Reals ZArith List Lra Lia Bool.
From Flocq Require Import Core.
From Interval Require Import Xreal Basic Sig Interval Float_full Float Specific_ops Specific_stdz Specific_bigint.
From SnapDP Require Import Law Sampler Mechanism Decide PrecisionTails PrecisionMode.
From SnapDP Require Rounding Spec.
Import ListNotations.
Open Scope R_scope.

(** ** Dyadics to p bits, to the nearest, ties to even *)
Definition nearest_quotient (m s : Z) : Z :=
  let q := (m / 2 ^ s)%Z in
  let r := (m mod 2 ^ s)%Z in
  match Z.compare (2 * r) (2 ^ s) with
  | Lt => q
  | Eq => if Z.even q then q else (q + 1)%Z
  | Gt => (q + 1)%Z
  end.

Definition to_bits (p : Z) (d : dyadic) : dyadic :=
  let excess := (Z.log2 (Z.abs (mant d)) + 1 - p)%Z in
  if (excess <=? 0)%Z then d else Dyadic (nearest_quotient (mant d) excess) (expo d + excess).

Lemma nearest_quotient_correct m s : (0 < s)%Z -> ZnearestE (IZR m / bpow radix2 s) = nearest_quotient m s.
Proof.
  intro Hs. rewrite <- IZR_pow2 by lia. assert (0 < 2 ^ s)%Z as Hp by (apply Z.pow_pos_nonneg; lia).
  assert (0 < IZR (2 ^ s)) as HP by now apply IZR_lt.
  assert (Zfloor (IZR m / IZR (2 ^ s)) = (m / 2 ^ s)%Z) as HF by (apply Zfloor_div; lia).
  generalize (Z.div_mod m (2 ^ s) ltac:(lia)) (Z.mod_pos_bound m (2 ^ s) Hp). intros HD HM.
  assert (IZR m / IZR (2 ^ s) - IZR (m / 2 ^ s) = IZR (m mod 2 ^ s) / IZR (2 ^ s)) as HR.
  { rewrite HD at 1. rewrite plus_IZR, mult_IZR. field. lra. }
  unfold Znearest, nearest_quotient. rewrite HF, HR.
  assert (forall r, IZR r / IZR (2 ^ s) - / 2 = (IZR (2 * r) - IZR (2 ^ s)) / (2 * IZR (2 ^ s))) as HE.
  { intro r. rewrite mult_IZR. field. lra. }
  assert (0 < / (2 * IZR (2 ^ s))) as HI by (apply Rinv_0_lt_compat; lra).
  assert ((IZR (2 ^ s) - IZR (2 ^ s)) / (2 * IZR (2 ^ s)) = 0) as HZ by (field; lra).
  destruct (Z.compare_spec (2 * (m mod 2 ^ s)) (2 ^ s)) as [E|E|E].
  - rewrite Rcompare_Eq.
    + destruct (Z.even (m / 2 ^ s)) eqn:Ev; simpl; auto. rewrite Zceil_floor_neq; rewrite HF; auto.
      intro h. assert (IZR (m mod 2 ^ s) / IZR (2 ^ s) = 0) as h0 by lra.
      specialize (HE (m mod 2 ^ s)%Z). rewrite E, h0, HZ in HE. lra.
    + specialize (HE (m mod 2 ^ s)%Z). rewrite E, HZ in HE. lra.
  - rewrite Rcompare_Lt; auto. apply IZR_lt in E.
    specialize (HE (m mod 2 ^ s)%Z).
    assert ((IZR (2 * (m mod 2 ^ s)) - IZR (2 ^ s)) / (2 * IZR (2 ^ s)) < 0); [|lra].
    unfold Rdiv. rewrite <- (Rmult_0_l (/ (2 * IZR (2 ^ s)))). apply Rmult_lt_compat_r; lra.
  - rewrite Rcompare_Gt.
    + rewrite Zceil_floor_neq; rewrite HF; auto. intro h.
      assert (0 < IZR (m mod 2 ^ s) / IZR (2 ^ s)); [|lra]. apply Rdiv_lt_0_compat; auto. apply IZR_lt. lia.
    + apply IZR_lt in E. specialize (HE (m mod 2 ^ s)%Z).
      assert (0 < (IZR (2 * (m mod 2 ^ s)) - IZR (2 ^ s)) / (2 * IZR (2 ^ s))); [|lra].
      apply Rmult_lt_0_compat; lra.
Qed.

Theorem to_bits_correct p d : (0 < p)%Z ->
  Generic_fmt.round radix2 (FLX_exp p) ZnearestE (d2r d) = d2r (to_bits p d).
Proof.
  intro Hp. assert (Prec_gt_0 p) as HP by exact Hp. unfold to_bits.
  destruct (Z.leb_spec (Z.log2 (Z.abs (mant d)) + 1 - p) 0) as [h|h].
  - apply round_generic; [typeclasses eauto|]. apply generic_format_FLX.
    exists (Defs.Float radix2 (mant d) (expo d)); [reflexivity|]. simpl.
    change (Zpower radix2 p) with (2 ^ p)%Z.
    destruct (Z.eq_dec (mant d) 0) as [E|E]; [rewrite E; simpl; apply Z.pow_pos_nonneg; lia|].
    apply Z.lt_le_trans with (2 ^ (Z.log2 (Z.abs (mant d)) + 1))%Z.
    + generalize (proj2 (Z.log2_spec (Z.abs (mant d)) ltac:(lia))). now rewrite <- Z.add_1_r.
    + apply Z.pow_le_mono_r; lia.
  - set (s := (Z.log2 (Z.abs (mant d)) + 1 - p)%Z) in *.
    assert (mant d <> 0)%Z as Hm by (intro E; unfold s in h; rewrite E in h; change (Z.log2 (Z.abs 0)) with 0%Z in h; lia).
    assert (mag radix2 (d2r d) = (Z.log2 (Z.abs (mant d)) + 1 + expo d)%Z :> Z) as HM.
    { unfold d2r. change (IZR (mant d) * bpow radix2 (expo d)) with (F2R (Defs.Float radix2 (mant d) (expo d))).
      rewrite mag_F2R by auto. rewrite <- (Zdigits_mag radix2 (mant d) Hm).
      f_equal. destruct (Z.log2_spec (Z.abs (mant d)) ltac:(lia)) as [L U].
      apply Zdigits_unique. simpl. rewrite Z.add_simpl_r. change (Zpower radix2) with (Z.pow 2) || idtac.
      split; [exact L|]. now rewrite Z.add_1_r. }
    unfold Generic_fmt.round, scaled_mantissa, cexp, FLX_exp. rewrite HM.
    replace (Z.log2 (Z.abs (mant d)) + 1 + expo d - p)%Z with (expo d + s)%Z by (unfold s; ring).
    assert (d2r d * bpow radix2 (- (expo d + s)) = IZR (mant d) / bpow radix2 s) as ->.
    { unfold d2r. rewrite Rmult_assoc, <- bpow_plus. replace (expo d + - (expo d + s))%Z with (- s)%Z by ring.
      rewrite bpow_opp. reflexivity. }
    rewrite nearest_quotient_correct by auto. reflexivity.
Qed.

(** ** Exact operations *)
Definition dmul (a b : dyadic) : dyadic := Dyadic (mant a * mant b) (expo a + expo b).
Definition dopp (a : dyadic) : dyadic := Dyadic (- mant a) (expo a).
Definition dadd (a b : dyadic) : dyadic :=
  let e := Z.min (expo a) (expo b) in
  Dyadic (mant a * 2 ^ (expo a - e) + mant b * 2 ^ (expo b - e)) e.

Lemma dmul_correct a b : d2r (dmul a b) = d2r a * d2r b.
Proof. unfold d2r, dmul. simpl. rewrite mult_IZR, bpow_plus. ring. Qed.
Lemma dopp_correct a : d2r (dopp a) = - d2r a.
Proof. unfold d2r, dopp. simpl. rewrite opp_IZR. ring. Qed.
Lemma dadd_correct a b : d2r (dadd a b) = d2r a + d2r b.
Proof.
  unfold d2r, dadd. simpl. set (e := Z.min (expo a) (expo b)).
  rewrite plus_IZR, !mult_IZR, !IZR_pow2 by (unfold e; lia).
  rewrite Rmult_plus_distr_r, !Rmult_assoc, <- !bpow_plus. do 2 f_equal; f_equal; f_equal; ring.
Qed.

(** floor(x / 2^e + 1/2) *)
Definition index_of (e : Z) (x : dyadic) : Z :=
  let y := dadd (Dyadic (mant x) (expo x - e)) (Dyadic 1 (-1)) in
  if (0 <=? expo y)%Z then (mant y * 2 ^ expo y)%Z else (mant y / 2 ^ (- expo y))%Z.

Lemma index_of_correct e x : Rounding.index (bpow radix2 e) (d2r x) = index_of e x.
Proof.
  unfold index_of. set (y := dadd _ _).
  assert (d2r x / bpow radix2 e + / 2 = d2r y) as E.
  { unfold y. rewrite dadd_correct. unfold d2r. simpl mant. simpl expo. unfold Zminus. rewrite bpow_plus, bpow_opp.
    simpl (bpow radix2 (-1)). unfold Z.pow_pos. simpl. field. apply Rgt_not_eq, bpow_gt_0. }
  unfold Rounding.index. rewrite E. unfold d2r.
  destruct (Z.leb_spec 0 (expo y)) as [h|h].
  - rewrite <- IZR_pow2, <- mult_IZR by lia. apply Rounding.floor_IZR.
  - assert (0 < 2 ^ (- expo y))%Z as Hp by (apply Z.pow_pos_nonneg; lia).
    replace (bpow radix2 (expo y)) with (/ IZR (2 ^ (- expo y))).
    + apply Rounding.floor_spec. generalize (Z.div_mod (mant y) (2 ^ (- expo y)) ltac:(lia)) (Z.mod_pos_bound (mant y) (2 ^ (- expo y)) Hp).
      intros HD HM. assert (0 < IZR (2 ^ (- expo y))) as HP by now apply IZR_lt.
      rewrite HD at 2 3. rewrite plus_IZR, mult_IZR. apply Zlt_le_succ in Hp.
      destruct HM as [M1 M2]. apply IZR_le in M1. apply IZR_lt in M2.
      set (q := IZR (mant y / 2 ^ (- expo y))) in *. set (P := IZR (2 ^ (- expo y))) in *.
      replace ((P * q + IZR (mant y mod 2 ^ (- expo y))) * / P) with (q + IZR (mant y mod 2 ^ (- expo y)) / P) by (field; lra).
      assert (0 <= IZR (mant y mod 2 ^ (- expo y)) / P < 1); [|lra].
      split; [apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]|].
      apply Rmult_lt_reg_r with P; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
    + rewrite IZR_pow2 by lia. rewrite <- bpow_opp. f_equal. ring.
Qed.

(** ** Parameters, as the constructor computes them *)
Definition half_of (d : dyadic) : dyadic := Dyadic (mant d) (expo d - 1).
Definition center_of (lower upper : dyadic) : dyadic := half_of (dadd lower upper).
Definition half_width (lower upper : dyadic) : dyadic := half_of (dadd upper (dopp lower)).

(** a / b, rounded down to so many bits. *)
Definition div_down (bits : Z) (a b : dyadic) : dyadic :=
  let s := Z.max 0 (bits + Z.log2 (mant b) - Z.log2 (mant a)) in
  let q := (mant a * 2 ^ s / mant b)%Z in
  let r := Z.max 0 (Z.log2 q + 1 - bits) in
  Dyadic (q / 2 ^ r) (expo a - expo b - s + r).

(** epsilon' = (num/den - 2 eta) / (1 + 12 (B / sensitivity) eta), down; the scale sensitivity / epsilon', up. *)
Definition inner_epsilon (p num den : Z) (sensitivity half : dyadic) : dyadic :=
  div_down p (dmul (dadd (Dyadic num 0) (dopp (Dyadic den (1 - p)))) sensitivity)
    (dmul (Dyadic den 0) (dadd sensitivity (dmul (Dyadic 12 (- p)) half))).
Definition precision_scale (p num den : Z) (sensitivity half : dyadic) : dyadic :=
  div_up p sensitivity (inner_epsilon p num den sensitivity half).

Lemma div_down_correct bits a b : (0 < mant a)%Z -> (0 < mant b)%Z -> d2r (div_down bits a b) <= d2r a / d2r b.
Proof.
  intros Ha Hb. destruct a as [ma ea], b as [mb eb]; unfold d2r, div_down; simpl in *.
  set (s := Z.max 0 _). set (q := (ma * 2 ^ s / mb)%Z). set (r := Z.max 0 _).
  assert (0 <= s)%Z by (unfold s; lia). assert (0 <= r)%Z by (unfold r; lia).
  assert (mb * q <= ma * 2 ^ s)%Z as H1 by (unfold q; apply Z.mul_div_le; auto).
  assert (2 ^ r * (q / 2 ^ r) <= q)%Z as H2 by (apply Z.mul_div_le; apply Z.pow_pos_nonneg; lia).
  set (t := (q / 2 ^ r)%Z) in *.
  assert (t * 2 ^ r * mb <= ma * 2 ^ s)%Z as H3 by nia.
  apply IZR_le in H3. rewrite !mult_IZR in H3. rewrite (IZR_pow2 s), (IZR_pow2 r) in H3 by auto.
  assert (0 < IZR mb) as Hmb by (now apply IZR_lt).
  apply Rmult_le_reg_r with (IZR mb * bpow radix2 eb); [apply Rmult_lt_0_compat; auto; apply bpow_gt_0|].
  replace (IZR ma * bpow radix2 ea / (IZR mb * bpow radix2 eb) * (IZR mb * bpow radix2 eb))
    with (IZR ma * bpow radix2 ea).
  2:{ field. split; [|lra]. apply Rgt_not_eq, bpow_gt_0. }
  replace (IZR t * bpow radix2 (ea - eb - s + r) * (IZR mb * bpow radix2 eb))
    with (IZR t * bpow radix2 r * IZR mb * (bpow radix2 (ea - s))).
  2:{ replace (ea - eb - s + r)%Z with (r + ((ea - s) + - eb))%Z by ring.
      rewrite !bpow_plus, (bpow_opp _ eb). field. apply Rgt_not_eq, bpow_gt_0. }
  replace (IZR ma * bpow radix2 ea) with (IZR ma * bpow radix2 s * bpow radix2 (ea - s)).
  - apply Rmult_le_compat_r; auto. apply bpow_ge_0.
  - rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. ring.
Qed.

Lemma mant_positive d : 0 < d2r d -> (0 < mant d)%Z.
Proof. unfold d2r. intro H. apply lt_IZR. generalize (bpow_gt_0 radix2 (expo d)). nra. Qed.

(** epsilon' as the constructor rounds it is at most the formula, and the notes' claim for its scale at most epsilon. *)
Theorem precision_epsilon_is_spent p num den sensitivity half : (0 < den)%Z -> 0 < d2r sensitivity -> 0 <= d2r half ->
  2 * bpow radix2 (- p) < IZR num / IZR den ->
  let inner := inner_epsilon p num den sensitivity half in
  let scale := precision_scale p num den sensitivity half in
  0 < d2r inner ->
  d2r inner <= (IZR num / IZR den - 2 * bpow radix2 (- p)) / (1 + 12 * (d2r half / d2r sensitivity) * bpow radix2 (- p)) /\
  d2r sensitivity / d2r scale + 12 * d2r half * bpow radix2 (- p) / d2r scale + 2 * bpow radix2 (- p) <= IZR num / IZR den.
Proof.
  intros Hd Hs Hh He inner scale Hi.
  assert (0 < IZR den) as Hden by now apply IZR_lt. assert (0 < bpow radix2 (- p)) as Heta by apply bpow_gt_0.
  set (a := dmul (dadd (Dyadic num 0) (dopp (Dyadic den (1 - p)))) sensitivity).
  set (b := dmul (Dyadic den 0) (dadd sensitivity (dmul (Dyadic 12 (- p)) half))).
  assert (d2r a = (IZR num - IZR den * (2 * bpow radix2 (- p))) * d2r sensitivity) as Ea.
  { unfold a. rewrite dmul_correct, dadd_correct, dopp_correct. f_equal. unfold d2r. cbn [mant expo].
    replace (1 - p)%Z with (1 + - p)%Z by ring. rewrite bpow_plus.
    replace (bpow radix2 1) with 2 by (simpl; lra). replace (bpow radix2 0) with 1 by (simpl; lra). ring. }
  assert (d2r b = IZR den * (d2r sensitivity + 12 * bpow radix2 (- p) * d2r half)) as Eb.
  { unfold b. rewrite dmul_correct, dadd_correct, dmul_correct. unfold d2r. cbn [mant expo].
    replace (bpow radix2 0) with 1 by (simpl; lra). ring. }
  assert (0 < IZR num - IZR den * (2 * bpow radix2 (- p))) as Hn.
  { apply (Rmult_lt_compat_l (IZR den)) in He; auto.
    replace (IZR den * (IZR num / IZR den)) with (IZR num) in He by (field; lra). lra. }
  assert (0 <= 12 * bpow radix2 (- p) * d2r half) as H0 by (apply Rmult_le_pos; lra).
  assert (0 < d2r a) as Ha by (rewrite Ea; now apply Rmult_lt_0_compat).
  assert (0 < d2r b) as Hb by (rewrite Eb; apply Rmult_lt_0_compat; lra).
  assert (d2r inner <= (IZR num / IZR den - 2 * bpow radix2 (- p)) / (1 + 12 * (d2r half / d2r sensitivity) * bpow radix2 (- p))) as H1.
  { apply Rle_trans with (d2r a / d2r b).
    - apply div_down_correct; now apply mant_positive.
    - right. rewrite Ea, Eb. field. repeat split; lra. }
  split; auto.
  assert (d2r sensitivity / d2r inner <= d2r scale) as H2 by (apply div_up_correct; now apply mant_positive).
  apply notes_claim_is_spent with (d2r inner); auto.
  apply Rlt_le_trans with (2 := H2). now apply Rdiv_lt_0_compat.
Qed.

(** What the constructor refuses. *)
Definition accepted (p : Z) (scale half : dyadic) : bool :=
  (8 <=? p)%Z && (0 <? mant scale)%Z && negb (dle half scale) &&
  negb (dle (Dyadic (mant scale) (expo scale + p - 7)) half).

Lemma accepted_correct p scale half : accepted p scale half = true ->
  (8 <= p)%Z /\ 0 < d2r scale /\ d2r scale <= bpow radix2 (least_power scale) < 2 * d2r scale /\
  d2r scale < d2r half /\ d2r half < bpow radix2 (p - 7) * d2r scale.
Proof.
  unfold accepted. rewrite !andb_true_iff, !negb_true_iff. intros [[[Hp Hs] H1] H2].
  apply Z.leb_le in Hp. apply Z.ltb_lt in Hs.
  assert (forall a b, dle a b = false -> d2r b < d2r a) as HL.
  { intros a b H. apply Rnot_le_lt. intro h. apply dle_correct in h. congruence. }
  apply HL in H1. apply HL in H2.
  split; auto. split; [|split; [|split]]; auto.
  - unfold d2r. apply Rmult_lt_0_compat; [now apply IZR_lt|apply bpow_gt_0].
  - now apply least_power_is_least.
  - apply Rlt_le_trans with (1 := H2). right. unfold d2r. simpl.
    replace (expo scale + p - 7)%Z with ((p - 7) + expo scale)%Z by ring. rewrite bpow_plus. ring.
Qed.

(** ** The index, from both ends of what the bits leave open *)
Section Ends.
Variables (p e : Z) (scale d : R) (s : bool).
Hypothesis p_positive : (0 < p)%Z.
Hypothesis scale_positive : 0 < scale.
Notation rounded := (Generic_fmt.round radix2 (FLX_exp p) ZnearestE).

(** As a function of U cut off. *)
Definition magnitude_at (x : R) : R := rounded (scale * rounded (- ln x)).
Definition index_at (x : R) : Z :=
  Rounding.index (bpow radix2 e) (rounded (if s then d - magnitude_at x else d + magnitude_at x)).

Lemma magnitude_at_falls x y : 0 < x <= y -> magnitude_at y <= magnitude_at x.
Proof.
  assert (Prec_gt_0 p) as HP by exact p_positive. intros [H0 H]. unfold magnitude_at.
  apply round_le; try typeclasses eauto. apply Rmult_le_compat_l; [lra|].
  apply round_le; try typeclasses eauto. apply Ropp_le_contravar.
  destruct H as [H| ->]; [left; now apply ln_increasing|lra].
Qed.

Lemma index_between x y z k : 0 < x -> x <= y <= z -> index_at x = k -> index_at z = k -> index_at y = k.
Proof.
  assert (Prec_gt_0 p) as HP by exact p_positive. intros H0 [H1 H2] Ex Ez. unfold index_at in *.
  generalize (magnitude_at_falls x y ltac:(lra)) (magnitude_at_falls y z ltac:(lra)). intros M1 M2.
  assert (0 < bpow radix2 e) as Hg by apply bpow_gt_0.
  assert (forall a b, a <= b -> (Rounding.index (bpow radix2 e) (rounded a) <= Rounding.index (bpow radix2 e) (rounded b))%Z) as HM.
  { intros a b Hab. apply Rounding.index_le; auto. apply round_le; try typeclasses eauto; auto. }
  destruct s.
  - generalize (HM (d - magnitude_at x) (d - magnitude_at y) ltac:(lra)) (HM (d - magnitude_at y) (d - magnitude_at z) ltac:(lra)). lia.
  - generalize (HM (d + magnitude_at y) (d + magnitude_at x) ltac:(lra)) (HM (d + magnitude_at z) (d + magnitude_at y) ltac:(lra)). lia.
Qed.
End Ends.

(** The least and the greatest number that U, cut off after p bits, may be: one number when the p bits are all there. *)
Definition ends (p b n : Z) : dyadic * dyadic :=
  let missing := (p - (Z.log2 b + 1))%Z in
  if (0 <? missing)%Z then (Dyadic b (- n), Dyadic (b + 1) (- n))
  else let x := Dyadic (b / 2 ^ (- missing)) (- missing - n) in (x, x).

Lemma ends_correct p b n u : (0 < p)%Z -> (0 < b)%Z -> d2r (Dyadic b (- n)) <= u < d2r (Dyadic (b + 1) (- n)) ->
  0 < d2r (fst (ends p b n)) /\
  d2r (fst (ends p b n)) <= Generic_fmt.round radix2 (FLX_exp p) Zfloor u <= d2r (snd (ends p b n)).
Proof.
  intros Hp Hb [H1 H2]. assert (Prec_gt_0 p) as HP by exact Hp. unfold ends.
  destruct (Z.log2_spec b Hb) as [L1 L2]. generalize (Z.log2_nonneg b). intro L0.
  assert (0 < u) as Hu.
  { apply Rlt_le_trans with (2 := H1). unfold d2r. simpl. apply Rmult_lt_0_compat; [now apply IZR_lt|apply bpow_gt_0]. }
  destruct (Z.ltb_spec 0 (p - (Z.log2 b + 1))) as [h|h]; simpl fst; simpl snd.
  - split; [unfold d2r; simpl; apply Rmult_lt_0_compat; [now apply IZR_lt|apply bpow_gt_0]|]. split.
    + apply round_ge_generic; try typeclasses eauto; auto. apply generic_format_FLX.
      exists (Defs.Float radix2 b (- n)); [reflexivity|]. simpl. change (Zpower radix2 p) with (2 ^ p)%Z.
      rewrite Z.abs_eq by lia. apply Z.lt_le_trans with (1 := L2). apply Z.pow_le_mono_r; lia.
    + apply Rle_trans with u; [|lra]. apply round_DN_pt. typeclasses eauto.
  - set (c := (- (p - (Z.log2 b + 1)))%Z) in *. assert (0 <= c)%Z as Hc by (unfold c; lia).
    set (t := (b / 2 ^ c)%Z).
    assert (0 < 2 ^ c)%Z as Hpc by (apply Z.pow_pos_nonneg; lia).
    generalize (Z.div_mod b (2 ^ c) ltac:(lia)) (Z.mod_pos_bound b (2 ^ c) Hpc). fold t. intros HD HM.
    assert (2 ^ (p - 1) <= t < 2 ^ p)%Z as [T1 T2].
    { split.
      - apply Z.div_le_lower_bound; auto. rewrite <- Z.pow_add_r by lia. replace (c + (p - 1))%Z with (Z.log2 b) by (unfold c; ring). exact L1.
      - apply Z.div_lt_upper_bound; auto. rewrite <- Z.pow_add_r by lia. replace (c + p)%Z with (Z.succ (Z.log2 b)) by (unfold c; lia). exact L2. }
    assert (forall m, d2r (Dyadic m (c - n)) = d2r (Dyadic (m * 2 ^ c) (- n))) as HS.
    { intro m. unfold d2r. simpl. rewrite mult_IZR, IZR_pow2 by lia. unfold Zminus. rewrite bpow_plus. ring. }
    assert (d2r (Dyadic t (c - n)) <= u < d2r (Dyadic (t + 1) (c - n))) as [B1 B2].
    { rewrite !HS. split.
      - apply Rle_trans with (2 := H1). unfold d2r. simpl. apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. lia.
      - apply Rlt_le_trans with (1 := H2). unfold d2r. simpl. apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. lia. }
    assert (Generic_fmt.round radix2 (FLX_exp p) Zfloor u = d2r (Dyadic t (c - n))) as ->.
    2:{ split; [|split; right; reflexivity]. unfold d2r. simpl. apply Rmult_lt_0_compat; [apply IZR_lt|apply bpow_gt_0].
        apply Z.lt_le_trans with (2 := T1). apply Z.pow_pos_nonneg; lia. }
    unfold d2r in B1, B2 |- *. simpl in B1, B2 |- *.
    assert (mag radix2 u = (p + (c - n))%Z :> Z) as HMag.
    { apply mag_unique. rewrite Rabs_right by lra. split.
      - replace (p + (c - n) - 1)%Z with ((p - 1) + (c - n))%Z by ring. rewrite bpow_plus, <- (IZR_pow2 (p - 1)) by lia.
        apply Rle_trans with (2 := B1). apply Rmult_le_compat_r; [apply bpow_ge_0|now apply IZR_le].
      - rewrite bpow_plus, <- (IZR_pow2 p) by lia. apply Rlt_le_trans with (1 := B2).
        apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. lia. }
    unfold Generic_fmt.round, scaled_mantissa, cexp, FLX_exp. rewrite HMag.
    replace (p + (c - n) - p)%Z with (c - n)%Z by ring.
    assert (Zfloor (u * bpow radix2 (- (c - n))) = t) as ->; [|reflexivity].
    assert (0 < bpow radix2 (c - n)) as Hbp by apply bpow_gt_0.
    apply Zfloor_imp. rewrite bpow_opp. split.
    + apply Rmult_le_reg_r with (bpow radix2 (c - n)); auto. rewrite Rmult_assoc, Rinv_l by lra. lra.
    + apply Rmult_lt_reg_r with (bpow radix2 (c - n)); auto. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Record precision_row := PrecisionRow { epsilon_num : Z; epsilon_den : Z; sensitivity : dyadic; lower : dyadic; upper : dyadic;
  value : dyadic; precision : Z; sign : bool; bits : Z; bit_count : Z; out : dyadic }.

Definition nearest_double : R -> R := Generic_fmt.round radix2 (FLX_exp 53) ZnearestE.   (* of a normal double *)

(** Every U with these bits gives this output, and the parameters are what [precision_mode] asks for. *)
Definition precision_row_holds (r : precision_row) : Prop :=
  let p := precision r in
  let half := half_width (lower r) (upper r) in
  let scale := precision_scale p (epsilon_num r) (epsilon_den r) (sensitivity r) half in
  let e := least_power scale in
  ((8 <= p)%Z /\ 0 < d2r scale /\ d2r scale <= bpow radix2 e < 2 * d2r scale /\
   d2r scale < d2r half /\ d2r half < bpow radix2 (p - 7) * d2r scale) /\
  forall u : R, d2r (Dyadic (bits r) (- bit_count r)) <= u < d2r (Dyadic (bits r + 1) (- bit_count r)) ->
    run_precision p e (d2r scale) (d2r half) (d2r (center_of (lower r) (upper r))) nearest_double (d2r (value r)) (sign r) u
    = d2r (out r).

Module PrecisionDecide (F : FloatOps with Definition radix := radix2 with Definition sensible_format := true).
Module D := Decide F.
Module I := D.I.

(** The interval's ends, outward to 80 bits less, so that they are numbers of the working precision; nothing is trusted of them. *)
Definition outward (f : F.type) (down : bool) : dyadic :=
  match F.toF f with
  | Basic.Float s m e => Dyadic ((if s then Z.neg m else Z.pos m) / 2 ^ 80 + (if down then -1 else 1)) (e + 80)
  | _ => Dyadic 0 0
  end.

Definition not_below (prec : F.precision) (i : I.type) (a : dyadic) : bool :=
  match I.sign_large (I.sub prec i (D.ofd prec a)) with Xgt | Xeq => true | _ => false end.
Definition not_above (prec : F.precision) (i : I.type) (b : dyadic) : bool :=
  match I.sign_large (I.sub prec (D.ofd prec b) i) with Xgt | Xeq => true | _ => false end.

Lemma large_correct i v : match I.sign_large i with Xgt | Xeq => true | _ => false end = true ->
  contains (I.convert i) (Xreal v) -> 0 <= v.
Proof.
  intros H Hv. generalize (I.sign_large_correct i). destruct (I.sign_large i); try discriminate; intro HL.
  - specialize (HL _ Hv). injection HL. lra.
  - destruct (HL _ Hv) as [_ HL']. simpl in HL'. lra.
Qed.

(** RN(-ln x), when the enclosure of the logarithm decides it. *)
Definition log_at (prec : F.precision) (p : Z) (x : dyadic) : option dyadic :=
  let i := I.neg (I.ln prec (D.ofd prec x)) in
  let a := outward (I.lower i) true in
  let b := outward (I.upper i) false in
  let l := to_bits p a in
  if not_below prec i a && not_above prec i b && Spec.equal l (to_bits p b) then Some l else None.

Lemma log_at_correct prec p x l : (0 < p)%Z -> 0 < d2r x -> log_at prec p x = Some l ->
  Generic_fmt.round radix2 (FLX_exp p) ZnearestE (- ln (d2r x)) = d2r l.
Proof.
  intros Hp Hx. assert (Prec_gt_0 p) as HP by exact Hp. unfold log_at.
  set (i := I.neg _). set (a := outward _ _). set (b := outward _ _).
  destruct (not_below prec i a) eqn:Ea; [|discriminate]. destruct (not_above prec i b) eqn:Eb; [|discriminate].
  destruct (Spec.equal _ _) eqn:El; [|discriminate]. simpl. intro H. injection H as <-.
  assert (contains (I.convert i) (Xreal (- ln (d2r x)))) as Hi.
  { change (Xreal (- ln (d2r x))) with (Xneg (Xreal (ln (d2r x)))). apply I.neg_correct.
    replace (Xreal (ln (d2r x))) with (Xln (Xreal (d2r x))).
    - apply I.ln_correct. apply D.ofd_correct.
    - simpl. unfold Xln'. destruct (is_positive_spec (d2r x)); [reflexivity|lra]. }
  assert (d2r a <= - ln (d2r x)) as H1.
  { assert (0 <= - ln (d2r x) - d2r a); [|lra]. apply (large_correct (I.sub prec i (D.ofd prec a))); auto.
    change (Xreal (- ln (d2r x) - d2r a)) with (Xsub (Xreal (- ln (d2r x))) (Xreal (d2r a))).
    apply I.sub_correct; auto. apply D.ofd_correct. }
  assert (- ln (d2r x) <= d2r b) as H2.
  { assert (0 <= d2r b - - ln (d2r x)); [|lra]. apply (large_correct (I.sub prec (D.ofd prec b) i)); auto.
    change (Xreal (d2r b - - ln (d2r x))) with (Xsub (Xreal (d2r b)) (Xreal (- ln (d2r x)))).
    apply I.sub_correct; auto. apply D.ofd_correct. }
  apply Spec.equal_correct in El. rewrite <- !to_bits_correct in El by auto. rewrite <- to_bits_correct by auto.
  apply Rle_antisym; [rewrite El|]; apply round_le; try typeclasses eauto; auto.
Qed.

Definition decide_at (prec : F.precision) (p e : Z) (scale d : dyadic) (s : bool) (x : dyadic) : option Z :=
  match log_at prec p x with
  | Some l =>
      let n := to_bits p (dmul scale l) in
      Some (index_of e (to_bits p (dadd d (if s then dopp n else n))))
  | None => None
  end.

Lemma decide_at_correct prec p e scale d s x k : (0 < p)%Z -> 0 < d2r x -> decide_at prec p e scale d s x = Some k ->
  index_at p e (d2r scale) (d2r d) s (d2r x) = k.
Proof.
  intros Hp Hx. unfold decide_at. destruct (log_at prec p x) as [l|] eqn:El; [|discriminate].
  intro H. injection H as <-. rewrite <- index_of_correct, <- to_bits_correct, dadd_correct by auto.
  unfold index_at, magnitude_at. rewrite (log_at_correct prec p x l Hp Hx El), <- dmul_correct, to_bits_correct by auto.
  destruct s; [rewrite dopp_correct|]; reflexivity.
Qed.

Definition row_ok (prec : F.precision) (r : precision_row) : bool :=
  let p := precision r in
  let half := half_width (lower r) (upper r) in
  let center := center_of (lower r) (upper r) in
  let scale := precision_scale p (epsilon_num r) (epsilon_den r) (sensitivity r) half in
  let e := least_power scale in
  let d := dclamp (Some (dopp half)) (Some half) (dadd (value r) (dopp center)) in
  let (x, y) := ends p (bits r) (bit_count r) in
  accepted p scale half && (0 <? bits r)%Z &&
  match decide_at prec p e scale d (sign r) x, decide_at prec p e scale d (sign r) y with
  | Some k, Some k' =>
      (k =? k')%Z && Spec.equal (to_bits 53 (dadd center (dclamp (Some (dopp half)) (Some half) (Dyadic k e)))) (out r)
  | _, _ => false
  end.

Theorem row_ok_correct prec r : row_ok prec r = true -> precision_row_holds r.
Proof.
  unfold row_ok, precision_row_holds. set (p := precision r). set (half := half_width _ _). set (center := center_of _ _).
  set (scale := precision_scale _ _ _ _ _). set (e := least_power scale). set (d := dclamp _ _ (dadd _ _)).
  destruct (ends p (bits r) (bit_count r)) as [x y] eqn:Eends. rewrite !andb_true_iff. intros [[Hacc Hb] H].
  destruct (accepted_correct p scale half Hacc) as (Hp & Hs & Hrest). split; [auto|]. intros u Hu.
  destruct (decide_at prec p e scale d (sign r) x) as [k|] eqn:Ex; [|discriminate].
  destruct (decide_at prec p e scale d (sign r) y) as [k'|] eqn:Ey; [|discriminate].
  apply andb_prop in H. destruct H as [Hk Hout]. apply Z.eqb_eq in Hk. subst k'. apply Z.ltb_lt in Hb.
  destruct (ends_correct p (bits r) (bit_count r) u ltac:(lia) Hb Hu) as [Hx0 Hcut]. rewrite Eends in Hx0, Hcut. simpl in Hx0, Hcut.
  assert (d2r d = centered (d2r half) (d2r center) (d2r (value r))) as Hd.
  { unfold d, centered. rewrite dclamp_correct, dadd_correct, dopp_correct. simpl. rewrite dopp_correct. reflexivity. }
  assert (index_at p e (d2r scale) (d2r d) (sign r) (Generic_fmt.round radix2 (FLX_exp p) Zfloor u) = k) as Hindex.
  { apply index_between with (d2r x) (d2r y); auto; try lia.
    - apply (decide_at_correct prec); auto; lia.
    - apply (decide_at_correct prec); auto; [lia|]. lra. }
  apply Spec.equal_correct in Hout. rewrite <- Hout, <- to_bits_correct, dadd_correct, dclamp_correct by lia.
  unfold run_precision, output_of, nearest_double. do 2 f_equal.
  assert (d2r (Dyadic k e) = bpow radix2 e * IZR k) as -> by (unfold d2r; simpl; ring).
  simpl real_bound. rewrite dopp_correct, Rounding.clamp_between_both. do 3 f_equal.
  unfold noisy. rewrite <- Hd. exact Hindex.
Qed.
End PrecisionDecide.

(** Machine integers, as for the rows of exact mode. *)
Module Fast := PrecisionDecide Spec.Floats.
Definition precision_row_ok (r : precision_row) : bool :=
  Fast.row_ok (Spec.Floats.PtoP (Z.to_pos (bit_count r) + Z.to_pos (precision r) + 256)) r.

Theorem precision_rows_ok_correct (rows : list precision_row) :
  forallb precision_row_ok rows = true -> forall r, In r rows -> precision_row_holds r.
Proof. rewrite forallb_forall. intros Hok r Hin. apply (Fast.row_ok_correct _ r (Hok r Hin)). Qed.
