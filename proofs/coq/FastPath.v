(** The fast path, whole: from a 64-bit word to the index that the kernel accepts (src/mechanism/snap_kernel_body.inc), in the
    operations of binary64 with its subnormal numbers. No slice of ratios is treated by itself: the bound of a rounding,
    relative and absolute, holds at every ratio. What depends on the digits of the constants is a hypothesis here;
    proofs/fast_path/certificates.py states the theorem for the constants of the headers and proves each hypothesis. *)
From Coq Require Import Reals ZArith Bool Lra Lia.
From Flocq Require Import Core Relative.
From SnapDP Require Import Rounding Sampler LazyBits Mechanism.
Open Scope R_scope.

Section FastPath.

(** ** Doubles *)
(** The double nearest to a number, ties to even. Nothing overflows: all numbers of the kernel but the output are below 2^54. *)
Definition double (x : R) : R := Generic_fmt.round radix2 (FLT_exp (-1074) 53) ZnearestE x.
Definition is_double (x : R) : Prop := generic_format radix2 (FLT_exp (-1074) 53) x.

Instance precision_positive : Prec_gt_0 53.
Proof. reflexivity. Qed.

(** The relative error of a rounding, 2^-53, and the absolute one of subnormal numbers. *)
Definition unit : R := / 9007199254740992.
Definition tiny : R := bpow radix2 (-1075).

Lemma tiny_range : 0 < tiny <= / 1267650600228229401496703205376.
Proof.
  split; [apply bpow_gt_0|]. replace (/ 1267650600228229401496703205376) with (bpow radix2 (-100)).
  - apply bpow_le. lia.
  - simpl. lra.
Qed.

Lemma power_of_two e : (0 <= e)%Z -> IZR (2 ^ e) = bpow radix2 e.
Proof. exact (IZR_Zpower radix2 e). Qed.

Lemma unit_value : unit = bpow radix2 (-53).
Proof. unfold unit. simpl. lra. Qed.

Lemma double_error x : Rabs (double x - x) <= unit * Rabs x + tiny.
Proof.
  destruct (error_N_FLT radix2 (-1074) 53 ltac:(lia) (fun n => negb (Z.even n)) x) as (relative & absolute & Hr & Ha & _ & E).
  unfold double. rewrite E. replace (x * (1 + relative) + absolute - x) with (relative * x + absolute) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_mult. apply Rplus_le_compat.
  - apply Rmult_le_compat_r; [apply Rabs_pos|]. rewrite unit_value. simpl in *. lra.
  - apply Rle_trans with (1 := Ha). unfold tiny. right. change (-1075)%Z with (-1 + -1074)%Z. rewrite bpow_plus. simpl bpow at 2. lra.
Qed.

Lemma double_is_double x : is_double (double x).
Proof. apply generic_format_round; typeclasses eauto. Qed.

Lemma double_id x : is_double x -> double x = x.
Proof. intro H. apply round_generic; [typeclasses eauto|exact H]. Qed.

Lemma double_opp x : double (- x) = - double x.
Proof. apply round_NE_opp. Qed.

Lemma is_double_opp x : is_double x -> is_double (- x).
Proof. apply generic_format_opp. Qed.

Lemma scaled_is_double n e : (Z.abs n <= 2 ^ 53)%Z -> (-1074 <= e)%Z -> is_double (IZR n * bpow radix2 e).
Proof.
  intros Hn He. destruct (Z.eq_dec (Z.abs n) (2 ^ 53)) as [E|E].
  - assert (is_double (bpow radix2 (53 + e))) as H by (apply generic_format_bpow; unfold FLT_exp; lia).
    destruct (Z.abs_spec n) as [[_ Ha]|[_ Ha]].
    + replace n with (2 ^ 53)%Z by lia. rewrite (power_of_two 53) by lia. now rewrite <- bpow_plus.
    + replace n with (- 2 ^ 53)%Z by lia. rewrite opp_IZR, (power_of_two 53) by lia.
      rewrite Ropp_mult_distr_l_reverse, <- bpow_plus. now apply is_double_opp.
  - apply generic_format_FLT. apply (FLT_spec radix2 (-1074) 53 _ (Float radix2 n e)); auto. simpl Fnum.
    change (radix2 ^ 53)%Z with (2 ^ 53)%Z. lia.
Qed.

Lemma integer_is_double n : (Z.abs n <= 2 ^ 53)%Z -> is_double (IZR n).
Proof. intro H. replace (IZR n) with (IZR n * bpow radix2 0) by (simpl; ring). apply scaled_is_double; lia. Qed.

(** ** The nearest integer: adding and subtracting 1.5 * 2^52 *)
Definition rounder : R := 6755399441055744.
Definition nearest (x : R) : R := double (double (x + rounder) - rounder).

Lemma nearest_spec x : Rabs x < 2251799813685248 -> exists k, nearest x = IZR k /\ Rabs (x - IZR k) <= / 2 /\ (Z.abs k <= 2 ^ 51)%Z.
Proof.
  intro H. apply Rabs_def2 in H. set (v := x + rounder).
  assert (double v = IZR (ZnearestE v)) as E.
  { unfold double, Generic_fmt.round, scaled_mantissa, cexp.
    rewrite (mag_unique_pos radix2 v 53); [simpl; unfold F2R; simpl; now rewrite !Rmult_1_r|].
    unfold v, rounder. simpl. lra. }
  pose proof (Znearest_half (fun n => negb (Z.even n)) v) as Hk. fold (ZnearestE v) in Hk.
  set (k := ZnearestE v) in *. exists (k - 6755399441055744)%Z.
  assert (Rabs (x - IZR (k - 6755399441055744)) <= / 2) as Hd.
  { rewrite minus_IZR. replace (x - (IZR k - 6755399441055744)) with (v - IZR k) by (unfold v, rounder; ring). exact Hk. }
  assert (Z.abs (k - 6755399441055744) <= 2 ^ 51)%Z as Hz.
  { apply Z.abs_le. apply Rabs_le_inv in Hd.
    assert (IZR (k - 6755399441055744) < 2251799813685249) as H1 by lra.
    assert (-2251799813685249 < IZR (k - 6755399441055744)) as H2 by lra.
    apply lt_IZR in H1. apply lt_IZR in H2. lia. }
  split; [|split; assumption].
  unfold nearest. fold v. rewrite E. unfold rounder. rewrite <- minus_IZR. apply double_id, integer_is_double. lia.
Qed.

(** What is left beside the nearest integer is a double. *)
Lemma rest_is_double x k : is_double x -> Rabs (x - IZR k) <= / 2 -> is_double (x - IZR k).
Proof.
  intros Hx Hk.
  destruct (Rlt_or_le (Rabs x) (/ 2)) as [Hs|Hl].
  - assert (k = 0)%Z as ->.
    { apply Rabs_def2 in Hs. apply Rabs_le_inv in Hk.
      assert (IZR k < 1) as H1 by lra. assert (-1 < IZR k) as H2 by lra. apply lt_IZR in H1. apply lt_IZR in H2. lia. }
    now rewrite Rminus_0_r.
  - set (e := cexp radix2 (FLT_exp (-1074) 53) x). set (n := Ztrunc (scaled_mantissa radix2 (FLT_exp (-1074) 53) x)).
    assert (x = IZR n * bpow radix2 e) as E by exact Hx.
    assert (0 <= mag radix2 x)%Z as Hm.
    { apply (mag_ge_bpow radix2 x 0). simpl. lra. }
    assert (-53 <= e)%Z as He by (unfold e, cexp, FLT_exp; lia).
    destruct (Z_le_gt_dec 0 e) as [H0|H0].
    + (* x is an integer *)
      assert (x - IZR k = 0) as ->; [|apply generic_format_0].
      assert (x = IZR (n * 2 ^ e)) as Ei by (rewrite mult_IZR, (power_of_two e) by lia; exact E).
      rewrite Ei, <- minus_IZR in *. rewrite <- abs_IZR in Hk.
      assert (IZR (Z.abs (n * 2 ^ e - k)) < 1) as H1 by lra. apply lt_IZR in H1. f_equal. lia.
    + replace (x - IZR k) with (IZR (n - k * 2 ^ (- e)) * bpow radix2 e).
      * apply scaled_is_double; [|lia].
        assert (IZR (Z.abs (n - k * 2 ^ (- e))) <= IZR (2 ^ 53)); [|now apply le_IZR].
        rewrite abs_IZR. apply Rmult_le_reg_r with (bpow radix2 e); [apply bpow_gt_0|].
        rewrite <- (Rabs_right (bpow radix2 e)) at 1 by (apply Rle_ge, bpow_ge_0). rewrite <- Rabs_mult.
        rewrite minus_IZR, mult_IZR, (power_of_two (- e)) by lia.
        replace ((IZR n - IZR k * bpow radix2 (- e)) * bpow radix2 e) with (x - IZR k).
        -- apply Rle_trans with (1 := Hk). rewrite (power_of_two 53) by lia. rewrite <- bpow_plus.
           apply Rle_trans with (bpow radix2 0); [simpl; lra|apply bpow_le; lia].
        -- rewrite Rmult_minus_distr_r, Rmult_assoc, <- bpow_plus, <- E. replace (- e + e)%Z with 0%Z by ring. simpl. ring.
      * rewrite minus_IZR, mult_IZR, (power_of_two (- e)) by lia.
        rewrite Rmult_minus_distr_r, Rmult_assoc, <- bpow_plus, <- E. replace (- e + e)%Z with 0%Z by ring. simpl. ring.
Qed.

(** ** The word and its range reduction *)
(** The sign is the last bit, 0 for +1. The other 63 are the first of U: U 2^64 lies from middle - 1 to middle + 1. *)
Definition sign_of (word : Z) : bool := Z.even word.
Definition middle (word : Z) : Z := (2 * (word / 2) + 1)%Z.
Definition begins_with (word : Z) (u : R) : Prop :=
  IZR (middle word) - 1 <= u * 18446744073709551616 <= IZR (middle word) + 1.

(** The 64 bits of a positive normal double as an integer, and the double with such bits. *)
Definition pattern (x : R) : Z :=
  ((mag radix2 x + 1022) * 2 ^ 52 + (Ztrunc (scaled_mantissa radix2 (FLT_exp (-1074) 53) x) - 2 ^ 52))%Z.
Definition with_pattern (bits : Z) : R := (1 + IZR (bits mod 2 ^ 52) / 4503599627370496) * bpow radix2 (bits / 2 ^ 52 - 1023).

(** What the kernel takes from the exponent field: sqrt(1/2)'s bits first, so that the significand is near 1. *)
Definition excess (bits : Z) : Z := Z.land (bits - 0x3fe6a09e667f3bcd) 0x7ff0000000000000.
Definition significand (bits : Z) : R := with_pattern (bits - excess bits).
Definition exponent (bits : Z) : R :=
  double (with_pattern (Z.lor (Z.shiftr (excess bits) 52) 0x4330000000000000) - (4503599627370496 + 64)).

Lemma mask_high x : Z.land x 0x7ff0000000000000 = ((x / 2 ^ 52 mod 2 ^ 11) * 2 ^ 52)%Z.
Proof.
  change 0x7ff0000000000000%Z with (Z.shiftl (Z.ones 11) 52).
  rewrite <- Z.land_ones, <- Z.shiftr_div_pow2, <- Z.shiftl_mul_pow2 by lia.
  apply Z.bits_inj'. intros n Hn. rewrite Z.land_spec, !Z.shiftl_spec by lia.
  destruct (Z_lt_le_dec n 52) as [h|h].
  - rewrite !(Z.testbit_neg_r _ (n - 52)) by lia. apply andb_false_r.
  - rewrite Z.land_spec, Z.shiftr_spec by lia. now replace (n - 52 + 52)%Z with n by ring.
Qed.

(** A double from 2^46 to 2^64 as its exponent field and the rest of its bits. *)
Lemma pattern_spec x : is_double x -> 70368744177664 <= x <= 18446744073709551616 ->
  exists field rest, pattern x = (field * 2 ^ 52 + rest)%Z /\ (1069 <= field <= 1087)%Z /\ (0 <= rest < 2 ^ 52)%Z /\
  (field = 1087 -> rest = 0)%Z /\ x = (1 + IZR rest / 4503599627370496) * bpow radix2 (field - 1023).
Proof.
  intros Hd Hx. set (n := Ztrunc (scaled_mantissa radix2 (FLT_exp (-1074) 53) x)).
  assert (47 <= mag radix2 x <= 65)%Z as Hm.
  { split; [apply mag_ge_bpow; rewrite Rabs_right by lra; simpl; lra|].
    apply mag_le_bpow; [lra|]. rewrite Rabs_right by lra. simpl. lra. }
  assert (x = IZR n * bpow radix2 (mag radix2 x - 53)) as E.
  { transitivity (IZR n * bpow radix2 (cexp radix2 (FLT_exp (-1074) 53) x)); [exact Hd|].
    do 2 f_equal. unfold cexp, FLT_exp. lia. }
  assert (2 ^ 52 <= n < 2 ^ 53)%Z as Hn.
  { generalize (bpow_mag_le radix2 x ltac:(lra)) (bpow_mag_gt radix2 x). rewrite !Rabs_right by lra.
    revert E. generalize (mag_val radix2 x (mag radix2 x)). intros m E Hl Hu. rewrite E in Hl, Hu. split.
    - apply le_IZR. rewrite (power_of_two 52) by lia. apply Rmult_le_reg_r with (bpow radix2 (m - 53)); [apply bpow_gt_0|].
      rewrite <- bpow_plus. now replace (52 + (m - 53))%Z with (m - 1)%Z by ring.
    - apply lt_IZR. rewrite (power_of_two 53) by lia. apply Rmult_lt_reg_r with (bpow radix2 (m - 53)); [apply bpow_gt_0|].
      rewrite <- bpow_plus. now replace (53 + (m - 53))%Z with m by ring. }
  exists (mag radix2 x + 1022)%Z, (n - 2 ^ 52)%Z. split; [reflexivity|]. split; [lia|]. split; [lia|]. split.
  { intro Hlast. replace (mag radix2 x - 53)%Z with 12%Z in E by lia. rewrite E in Hx.
    assert (n <= 2 ^ 52)%Z; [|lia]. apply le_IZR. replace (bpow radix2 12) with 4096 in Hx by (simpl; lra).
    rewrite (power_of_two 52) by lia. replace (bpow radix2 52) with 4503599627370496 by (simpl; lra). lra. }
  rewrite E at 1. rewrite minus_IZR. rewrite (power_of_two 52) by lia.
  replace (mag radix2 x + 1022 - 1023)%Z with (52 + (mag radix2 x - 53))%Z by ring. rewrite bpow_plus.
  replace 4503599627370496 with (bpow radix2 52) by (simpl; lra). field. apply Rgt_not_eq, bpow_gt_0.
Qed.

Lemma with_pattern_of field rest : (0 <= rest < 2 ^ 52)%Z ->
  with_pattern (field * 2 ^ 52 + rest) = (1 + IZR rest / 4503599627370496) * bpow radix2 (field - 1023).
Proof.
  intro H. unfold with_pattern.
  assert ((field * 2 ^ 52 + rest) / 2 ^ 52 = field)%Z as -> by (rewrite Z.div_add_l by lia; rewrite Z.div_small by lia; ring).
  assert ((field * 2 ^ 52 + rest) mod 2 ^ 52 = rest)%Z as ->; [|reflexivity].
  rewrite Z.add_comm, Z.mod_add by lia. now apply Z.mod_small.
Qed.

(** 0x1.6a09e667f3bcdp0, the double below sqrt(2), and half of it bound the significand. *)
Definition root : R := 6369051672525773 / 4503599627370496.

Theorem range_reduction x : is_double x -> 70368744177664 <= x <= 18446744073709551616 ->
  exists e, exponent (pattern x) = IZR e /\ (-18 <= e <= 0)%Z /\ is_double (significand (pattern x)) /\
  root / 2 <= significand (pattern x) <= root /\ x = significand (pattern x) * bpow radix2 (e + 64).
Proof.
  intros Hd Hx. destruct (pattern_spec x Hd Hx) as (field & rest & -> & Hf & Hr & Hlast & E).
  set (low := if Z_lt_le_dec rest 0x6a09e667f3bcd then 1%Z else 0%Z).
  assert (excess (field * 2 ^ 52 + rest) = (field - 1022 - low) * 2 ^ 52)%Z as Hexcess.
  { unfold excess. rewrite mask_high.
    assert ((field * 2 ^ 52 + rest - 0x3fe6a09e667f3bcd) / 2 ^ 52 = field - 1022 - low)%Z as ->.
    { unfold low. destruct Z_lt_le_dec.
      - symmetry. apply Z.div_unique with (rest - 0x6a09e667f3bcd + 2 ^ 52)%Z; lia.
      - symmetry. apply Z.div_unique with (rest - 0x6a09e667f3bcd)%Z; lia. }
    rewrite Z.mod_small; [reflexivity|]. unfold low. destruct Z_lt_le_dec; lia. }
  assert (significand (field * 2 ^ 52 + rest) = (1 + IZR rest / 4503599627370496) * bpow radix2 (low - 1)) as Hs.
  { unfold significand. rewrite Hexcess.
    replace (field * 2 ^ 52 + rest - (field - 1022 - low) * 2 ^ 52)%Z with ((1022 + low) * 2 ^ 52 + rest)%Z by ring.
    rewrite with_pattern_of by auto. do 2 f_equal. ring. }
  exists (field - 1022 - low - 64)%Z.
  assert (low = 0 \/ low = 1)%Z as Hlow by (unfold low; destruct Z_lt_le_dec; auto).
  split; [|split; [|split; [|split]]].
  - unfold exponent. rewrite Hexcess, Z.shiftr_div_pow2, Z.div_mul by lia.
    assert (Z.lor (field - 1022 - low) 0x4330000000000000 = 1075 * 2 ^ 52 + (field - 1022 - low))%Z as ->.
    { rewrite (Z.add_comm (1075 * 2 ^ 52)). symmetry. change (1075 * 2 ^ 52)%Z with 0x4330000000000000%Z.
      assert (exists n, field - 1022 - low = Z.of_nat n /\ (n < 66)%nat)%Z as (n & -> & Hn).
      { exists (Z.to_nat (field - 1022 - low)). lia. }
      do 66 (destruct n as [|n]; [reflexivity|]). lia. }
    rewrite with_pattern_of by lia. replace (1075 - 1023)%Z with 52%Z by ring.
    replace (bpow radix2 52) with 4503599627370496 by (simpl; lra).
    replace ((1 + IZR (field - 1022 - low) / 4503599627370496) * 4503599627370496 - (4503599627370496 + 64))
      with (IZR (field - 1022 - low - 64)) by (rewrite (minus_IZR _ 64); field).
    apply double_id, integer_is_double. lia.
  - unfold low in *. destruct Z_lt_le_dec; lia.
  - rewrite Hs. replace ((1 + IZR rest / 4503599627370496) * bpow radix2 (low - 1))
      with (IZR (2 ^ 52 + rest) * bpow radix2 (low - 53)).
    + apply scaled_is_double; lia.
    + rewrite plus_IZR, (power_of_two 52) by lia. replace (low - 1)%Z with (52 + (low - 53))%Z by ring. rewrite bpow_plus.
      replace 4503599627370496 with (bpow radix2 52) by (simpl; lra). field. apply Rgt_not_eq, bpow_gt_0.
  - rewrite Hs. unfold root, low. destruct Z_lt_le_dec as [h|h].
    + assert (IZR 0 <= IZR rest) as H0 by (apply IZR_le; lia). assert (IZR rest <= 1865452045155276) as H1 by (apply IZR_le; lia).
      replace (bpow radix2 (1 - 1)) with 1 by reflexivity. lra.
    + assert (1865452045155277 <= IZR rest) as H0 by (apply IZR_le; lia).
      assert (IZR rest <= 4503599627370495) as H1 by (apply IZR_le; lia).
      replace (bpow radix2 (0 - 1)) with (/ 2) by (simpl; lra). lra.
  - rewrite Hs, E, Rmult_assoc, <- bpow_plus. do 2 f_equal. ring.
Qed.

(** ** The kernel *)
(** Constants of src/mechanism/snap_kernel.h, and whether a product and its sum are rounded once. *)
Variable fused : bool.
Variables coefficient_0 coefficient_1 coefficient_2 coefficient_3 coefficient_4 coefficient_5 : R.
Variables ln2_constant margin_per_ratio margin_rest least_uniform : R.

Definition multiply_add (a b c : R) : R := if fused then double (a * b + c) else double (double (a * b) + c).

Definition kernel_ln (m e : R) : R :=
  let s := double (double (m - 1) / double (m + 1)) in
  let z := double (s * s) in
  let p4 := multiply_add coefficient_5 z coefficient_4 in
  let p3 := multiply_add p4 z coefficient_3 in
  let p2 := multiply_add p3 z coefficient_2 in
  let p1 := multiply_add p2 z coefficient_1 in
  let p := multiply_add p1 z coefficient_0 in
  multiply_add s p (double (e * ln2_constant)).

Definition to_double (word : Z) : R := double (IZR (middle word)).
Definition word_ln (word : Z) : R := kernel_ln (significand (pattern (to_double word))) (exponent (pattern (to_double word))).
(** The last bit of the word is moved onto the sign. *)
Definition signed_ln (word : Z) : R := if Z.testbit word 0 then - word_ln word else word_ln word.

(** Y, the index, and whether the sample is accepted. *)
Definition noisy (ratio fraction : R) (word : Z) : R := multiply_add ratio (signed_ln word) fraction.
Definition kernel_steps (ratio fraction : R) (word : Z) : R := nearest (noisy ratio fraction word).
Definition limit (ratio : R) : R := double (/ 2 - double (double (ratio * margin_per_ratio) + margin_rest)).
Definition accepts (ratio fraction : R) (word : Z) : Prop :=
  Rabs (double (noisy ratio fraction word - kernel_steps ratio fraction word)) <= limit ratio /\
  least_uniform <= to_double word.

(** What is certified of the constants: the parts of the logarithm's error, and that the margin exceeds them and the roundings. *)
Variables largest_s ln_approximation_bound ln2_error ln_rounding_bound ln_error_bound : R.

Definition polynomial (z : R) : R :=
  ((((coefficient_5 * z + coefficient_4) * z + coefficient_3) * z + coefficient_2) * z + coefficient_1) * z + coefficient_0.
(** What [kernel_ln] computes without roundings. *)
Definition series (m e : R) : R := (m - 1) / (m + 1) * polynomial ((m - 1) / (m + 1) * ((m - 1) / (m + 1))) + e * ln 2.

Hypothesis series_near_ln : forall s, 0 <= s <= largest_s ->
  Rabs (s * polynomial (s * s) - (ln (1 + s) - ln (1 - s))) <= ln_approximation_bound.
Hypothesis roundings_of_ln : forall m e, is_double m -> root / 2 <= m <= root -> Rabs ((m - 1) / (m + 1)) <= largest_s ->
  (-18 <= e <= 0)%Z -> Rabs (kernel_ln m (IZR e) - series m (IZR e)) <= ln_rounding_bound.
Hypothesis s_is_enough : 1 - largest_s <= root / 2 * (1 + largest_s) /\ root - 1 <= largest_s * (root + 1) /\ largest_s < 1.
Hypothesis ln_2_below : ln 2 < 694 / 1000.
Hypothesis errors_add_up : / 70368744177664 + 257 / 256 * unit + ln_approximation_bound + ln_rounding_bound <= ln_error_bound.
Hypothesis ln_error_small : ln_error_bound <= / 1000000.
Hypothesis margin_covers_ratio : ln_error_bound + 25 * unit <= margin_per_ratio * (1 - 2 * unit).
Hypothesis margin_covers_rest : 2 * unit <= margin_rest.
Hypothesis least_uniform_enough : 70368744177664 <= least_uniform.
Hypothesis margin_small : margin_per_ratio <= / 2199023255552 /\ margin_rest <= / 16.

Lemma ln_below x : 0 < x -> ln x <= x - 1.
Proof. intro H. generalize (exp_ineq1_le (ln x)). rewrite exp_ln by auto. lra. Qed.

Lemma ln_difference a b low : 0 < low -> low <= a -> low <= b -> Rabs (ln a - ln b) <= Rabs (a - b) / low.
Proof.
  intros Hlow Ha Hb.
  assert (forall x y, low <= x -> low <= y -> ln x - ln y <= Rabs (x - y) / low) as H.
  { intros x y Hx Hy. replace (ln x - ln y) with (ln (x / y)).
    - apply Rle_trans with (x / y - 1); [apply ln_below, Rdiv_lt_0_compat; lra|].
      replace (x / y - 1) with ((x - y) / y) by (field; lra).
      apply Rle_trans with (Rabs (x - y) / y).
      + apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|apply Rle_abs].
      + apply Rmult_le_compat_l; [apply Rabs_pos|]. apply Rinv_le; lra.
    - unfold Rdiv. rewrite ln_mult, ln_Rinv; try lra. apply Rinv_0_lt_compat. lra. }
  generalize (H a b Ha Hb) (H b a Hb Ha). rewrite (Rabs_minus_sym b a). unfold Rabs at 3. destruct Rcase_abs; lra.
Qed.

Lemma ln_bpow e : ln (bpow radix2 e) = IZR e * ln 2.
Proof. rewrite bpow_powerRZ, <- (exp_ln (powerRZ _ _)) by (apply powerRZ_lt; simpl; lra).
  rewrite ln_exp. simpl (IZR radix2). rewrite powerRZ_Rpower by lra. unfold Rpower. now rewrite ln_exp. Qed.

(** Steps (3) and (4) of the header: the logarithm of a significand in the middle of the range. *)
Lemma s_range m : root / 2 <= m <= root -> Rabs ((m - 1) / (m + 1)) <= largest_s.
Proof.
  intro H. assert (0 < root / 2) as Hroot by (unfold root; lra).
  unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ (m + 1))) by (apply Rle_ge; left; apply Rinv_0_lt_compat; lra).
  apply Rmult_le_reg_r with (m + 1); [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  destruct s_is_enough as (H1 & H2 & H3). unfold Rabs. destruct Rcase_abs; nra.
Qed.

Lemma series_is_ln m : root / 2 <= m <= root ->
  Rabs ((m - 1) / (m + 1) * polynomial ((m - 1) / (m + 1) * ((m - 1) / (m + 1))) - ln m) <= ln_approximation_bound.
Proof.
  intro H. assert (0 < root / 2) as Hroot by (unfold root; lra). generalize (s_range m H).
  destruct s_is_enough as (_ & _ & H3). set (s := (m - 1) / (m + 1)). intro Hs.
  assert (ln m = ln (1 + s) - ln (1 - s)) as ->.
  { assert (Rabs s < 1) as H1 by lra. apply Rabs_def2 in H1.
    replace (ln m) with (ln ((1 + s) / (1 - s))) by (f_equal; unfold s; field; lra).
    unfold Rdiv. rewrite ln_mult, ln_Rinv; try lra. apply Rinv_0_lt_compat. lra. }
  destruct (Rle_or_lt 0 s) as [h|h].
  - apply series_near_ln. rewrite Rabs_right in Hs; lra.
  - rewrite Rabs_left in Hs by auto. generalize (series_near_ln (- s) ltac:(lra)).
    replace (- s * - s) with (s * s) by ring. replace (1 + - s) with (1 - s) by ring. replace (1 - - s) with (1 + s) by ring.
    intro HB. rewrite <- Rabs_Ropp. eapply Rle_trans; [|exact HB]. right. f_equal. ring.
Qed.

(** Steps (1) and (2): a number that begins with the word, its middle, and the double nearest to that. *)
Lemma middle_range word : (0 <= word < 2 ^ 64)%Z -> (1 <= middle word <= 2 ^ 64 - 1)%Z /\ Z.odd (middle word) = true.
Proof.
  intro H. unfold middle. split.
  - generalize (Z.div_mod word 2 ltac:(lia)) (Z.mod_pos_bound word 2 ltac:(lia)). lia.
  - rewrite Z.add_1_r, Z.odd_succ, Z.even_mul. reflexivity.
Qed.

Lemma to_double_near word : (0 <= word < 2 ^ 64)%Z -> 70368744177664 <= to_double word ->
  70368744177665 <= IZR (middle word) /\ Rabs (to_double word - IZR (middle word)) <= unit * IZR (middle word) /\
  to_double word <= 18446744073709551616.
Proof.
  intros Hw Hl. destruct (middle_range word Hw) as [Hm Hodd]. unfold to_double in *.
  assert (1 <= IZR (middle word) <= 18446744073709551615) as HM by (split; apply IZR_le; lia).
  assert (double (IZR (middle word)) <= 18446744073709551616) as Hu.
  { rewrite <- (double_id 18446744073709551616).
    - apply round_le; try typeclasses eauto. lra.
    - replace 18446744073709551616 with (bpow radix2 64) by (simpl; lra). apply generic_format_bpow. unfold FLT_exp. lia. }
  assert (70368744177665 <= middle word)%Z as HMl.
  { destruct (Z_lt_le_dec (middle word) 70368744177665) as [h|h]; auto. exfalso.
    assert (middle word <> 70368744177664)%Z as Hne by (intro E; rewrite E in Hodd; discriminate).
    rewrite double_id in Hl by (apply integer_is_double; lia). apply le_IZR in Hl. lia. }
  split; [now apply IZR_le|]. split; auto.
  destruct (Z_le_gt_dec (middle word) (2 ^ 53)) as [h|h].
  - rewrite double_id by (apply integer_is_double; lia). rewrite Rminus_eq_0, Rabs_R0.
    apply Rmult_le_pos; [unfold unit; lra|lra].
  - (* normal: the error is relative *)
    assert (bpow radix2 (-1022) <= Rabs (IZR (middle word))) as Hn.
    { rewrite Rabs_right by lra. apply Rle_trans with (bpow radix2 0); [apply bpow_le; lia|simpl; lra]. }
    generalize (relative_error_N_FLT radix2 (-1074) 53 ltac:(lia) (fun n => negb (Z.even n)) (IZR (middle word)) Hn).
    rewrite (Rabs_right (IZR (middle word))) by lra. intro HE.
    apply Rle_trans with (1 := HE). apply Rmult_le_compat_r; [lra|]. rewrite unit_value. simpl. lra.
Qed.

Theorem word_ln_near word u : (0 <= word < 2 ^ 64)%Z -> 70368744177664 <= to_double word -> begins_with word u ->
  Rabs (word_ln word - ln u) <= ln_error_bound /\ Rabs (word_ln word) <= 12495 / 1000.
Proof.
  intros Hw Hl Hu. destruct (to_double_near word Hw Hl) as (HM & Hnear & Htop). unfold begins_with in Hu.
  set (M := IZR (middle word)) in *. set (v := to_double word) in *.
  assert (M <= 18446744073709551615) as HMtop by (apply IZR_le; generalize (middle_range word Hw); lia).
  destruct (range_reduction v (double_is_double _) ltac:(lra)) as (e & He & Hrange & Hd & Hm & E).
  unfold word_ln. fold v. rewrite He. set (m := significand (pattern v)) in *.
  assert (0 < root / 2) as Hroot by (unfold root; lra).
  (* ln u = ln(u 2^64) - 64 ln 2 *)
  assert (0 < u) as Hpos by nra.
  set (a := u * 18446744073709551616) in *.
  assert (ln u = ln a - 64 * ln 2) as ->.
  { unfold a. rewrite ln_mult by lra. replace 18446744073709551616 with (bpow radix2 64) by (simpl; lra). rewrite ln_bpow. ring. }
  assert (ln v = ln m + (IZR e + 64) * ln 2) as Hv.
  { rewrite E at 1. rewrite ln_mult, ln_bpow, plus_IZR; [ring|lra|apply bpow_gt_0]. }
  assert (Rabs (ln a - ln M) <= / 70368744177664) as H1.
  { apply Rle_trans with (1 := ln_difference a M 70368744177664 ltac:(lra) ltac:(lra) ltac:(lra)).
    assert (Rabs (a - M) <= 1) by (apply Rabs_le; lra). unfold Rdiv. lra. }
  assert (Rabs (ln v - ln M) <= 257 / 256 * unit) as H2.
  { assert (unit * M <= M / 1000) as Hs by (unfold unit; lra). apply Rabs_le_inv in Hnear as Hn.
    apply Rle_trans with (1 := ln_difference v M (256 / 257 * M) ltac:(lra) ltac:(lra) ltac:(lra)).
    apply Rle_trans with (unit * M / (256 / 257 * M)).
    - apply Rmult_le_compat_r; auto. left. apply Rinv_0_lt_compat. lra.
    - right. field. lra. }
  generalize (series_is_ln m Hm) (roundings_of_ln m e Hd Hm (s_range m Hm) Hrange). unfold series. intros H3 H4.
  set (p := (m - 1) / (m + 1) * _) in *. set (l := kernel_ln m (IZR e)) in *.
  apply Rabs_le_inv in H1. apply Rabs_le_inv in H2. apply Rabs_le_inv in H3. apply Rabs_le_inv in H4.
  assert (Rabs (l - (ln a - 64 * ln 2)) <= ln_error_bound) as Herror.
  { apply Rabs_le. lra. }
  split; auto. apply Rabs_le_inv in Herror.
  (* 2^46 <= a <= 2^64 *)
  assert (46 * ln 2 <= ln a <= 64 * ln 2) as Ha.
  { replace (46 * ln 2) with (ln (bpow radix2 46)) by (rewrite ln_bpow; ring).
    replace (64 * ln 2) with (ln (bpow radix2 64)) by (rewrite ln_bpow; ring).
    assert (forall x y, 0 < x -> x <= y -> ln x <= ln y) as Hmono.
    { intros x y H0 [h| ->]; [left; now apply ln_increasing|lra]. }
    split; apply Hmono; try (simpl; lra). }
  apply Rabs_le. lra.
Qed.

(** Steps (5) to (7): Y against the real number, for a fraction that is off by at most 2^-54 and two errors of subnormal numbers. *)
Lemma signed_ln_near word u : (0 <= word < 2 ^ 64)%Z -> 70368744177664 <= to_double word -> begins_with word u ->
  Rabs (signed_ln word - (if sign_of word then ln u else - ln u)) <= ln_error_bound /\ Rabs (signed_ln word) <= 12495 / 1000.
Proof.
  intros Hw Hl Hu. destruct (word_ln_near word u Hw Hl Hu) as [H1 H2]. unfold signed_ln.
  assert (Z.testbit word 0 = negb (sign_of word)) as -> by (unfold sign_of; now rewrite Z.bit0_odd, Z.negb_even).
  destruct sign_of; simpl; auto.
  split; [|now rewrite Rabs_Ropp]. rewrite <- Rabs_Ropp. eapply Rle_trans; [|exact H1]. right. f_equal. ring.
Qed.

Lemma multiply_add_near ratio l fraction : 0 < ratio -> Rabs l <= 12495 / 1000 -> Rabs fraction <= / 2 ->
  Rabs (multiply_add ratio l fraction - (ratio * l + fraction)) <= ratio * (25 * unit) + unit / 2 + 3 * tiny.
Proof.
  intros Hr Hl Hf. generalize tiny_range. intro Ht.
  assert (Rabs (ratio * l) <= 12495 / 1000 * ratio) as Hp.
  { rewrite Rabs_mult, (Rabs_right ratio) by lra. rewrite (Rmult_comm (12495 / 1000)). apply Rmult_le_compat_l; lra. }
  unfold multiply_add. revert Hp. generalize (ratio * l). intros product Hp. destruct fused.
  - generalize (double_error (product + fraction)) (Rabs_triang product fraction). unfold unit. intros H1 H2. lra.
  - set (rounded := double product). generalize (double_error product) (double_error (rounded + fraction)).
    fold rounded. generalize (Rabs_triang rounded fraction) (Rabs_triang (rounded - product) product).
    replace (rounded - product + product) with rounded by ring. intros H1 H2 H3 H4.
    apply Rle_trans with (Rabs (double (rounded + fraction) - (rounded + fraction)) + Rabs (rounded - product)).
    + replace (double (rounded + fraction) - (product + fraction))
        with ((double (rounded + fraction) - (rounded + fraction)) + (rounded - product)) by ring. apply Rabs_triang.
    + unfold unit in *. lra.
Qed.

(** The bounds are those of something. *)
Lemma ln_error_nonneg : 0 <= ln_error_bound.
Proof.
  assert (0 <= ln_approximation_bound /\ 0 <= ln_rounding_bound) as [H1 H2].
  { split.
    - apply Rle_trans with (2 := series_near_ln 0 ltac:(split; [lra|]; generalize s_is_enough; unfold root; lra)). apply Rabs_pos.
    - assert (is_double 1) as Hone by (apply (integer_is_double 1); lia).
      apply Rle_trans with (2 := roundings_of_ln 1 0 Hone ltac:(unfold root; lra) (s_range 1 ltac:(unfold root; lra)) ltac:(lia)).
      apply Rabs_pos. }
  generalize errors_add_up. unfold unit. lra.
Qed.

(** The limit leaves room for all of it. *)
Lemma limit_below ratio : 0 < ratio <= 1099511627776 ->
  limit ratio < / 2 - (ratio * (ln_error_bound + 25 * unit) + unit + 5 * tiny).
Proof.
  intro Hr. generalize tiny_range. intro Ht. unfold limit.
  pose proof ln_error_nonneg as HE.
  assert (0 < margin_per_ratio) as Hc by (generalize margin_covers_ratio; unfold unit; lra).
  assert (0 < ratio * margin_per_ratio <= / 2) as Hproduct.
  { split; [now apply Rmult_lt_0_compat|]. destruct margin_small as [Hs _].
    apply Rle_trans with (1099511627776 * / 2199023255552); [apply Rmult_le_compat; lra|lra]. }
  assert (ratio * (ln_error_bound + 25 * unit) <= ratio * margin_per_ratio * (1 - 2 * unit)) as Hcover.
  { rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|exact margin_covers_ratio]. }
  revert Hproduct Hcover. generalize (ratio * margin_per_ratio) (ratio * (ln_error_bound + 25 * unit)).
  intros product needed Hproduct Hcover. destruct margin_small as [_ Hrest].
  set (a := double product). set (b := double (a + margin_rest)).
  generalize margin_covers_rest (double_error product) (double_error (a + margin_rest)) (double_error (/ 2 - b)).
  fold a. fold b. intros H0 H1 H2 H3. rewrite (Rabs_right product) in H1 by lra. apply Rabs_le_inv in H1.
  assert (- tiny <= a <= 3 / 4) as Ha by (unfold unit in *; lra).
  unfold unit in *. rewrite (Rabs_right (a + margin_rest)) in H2 by lra. apply Rabs_le_inv in H2.
  assert (Rabs (/ 2 - b) <= / 2) as Hb by (apply Rabs_le; lra).
  apply Rabs_le_inv in H3. lra.
Qed.

(** What the kernel accepts is the true index, for every real number that begins with the word. *)
Theorem accepted_index word ratio fraction exact u : (0 <= word < 2 ^ 64)%Z -> 0 < ratio <= 1099511627776 ->
  Rabs fraction <= / 2 -> Rabs (fraction - exact) <= unit / 2 + 2 * tiny -> accepts ratio fraction word -> begins_with word u ->
  exists k, kernel_steps ratio fraction word = IZR k /\ index 1 (exact + noise ratio (sign_of word) u) = k.
Proof.
  intros Hw Hr Hf Hexact [Hlimit Hleast] Hu. generalize tiny_range. intro Ht.
  pose proof (Rle_trans _ _ _ least_uniform_enough Hleast) as Hl.
  destruct (signed_ln_near word u Hw Hl Hu) as [Hln Hsmall]. unfold kernel_steps, noisy in *.
  revert Hlimit Hln Hsmall. generalize (signed_ln word). intros l Hlimit Hln Hsmall.
  generalize (multiply_add_near ratio l fraction ltac:(lra) Hsmall Hf) (limit_below ratio Hr). intros Hy Hroom.
  set (y := multiply_add ratio l fraction) in *.
  assert (Rabs (ratio * l) <= 12495 / 1000 * ratio) as Hp.
  { rewrite Rabs_mult, (Rabs_right ratio) by lra. rewrite (Rmult_comm (12495 / 1000)). apply Rmult_le_compat_l; lra. }
  apply Rabs_le_inv in Hp. apply Rabs_le_inv in Hf.
  assert (Rabs y < 2251799813685248) as Hrange.
  { apply Rabs_le_inv in Hy. apply Rabs_def1; unfold unit in *; lra. }
  destruct (nearest_spec y Hrange) as (k & Hk & Hnear & _). exists k. split; auto. rewrite Hk in Hlimit.
  assert (is_double y) as Hdouble by (unfold y, multiply_add; destruct fused; apply double_is_double).
  rewrite double_id in Hlimit by now apply rest_is_double.
  assert (noise ratio (sign_of word) u = ratio * (if sign_of word then ln u else - ln u)) as ->.
  { unfold noise. destruct sign_of; ring. }
  set (truth := if sign_of word then ln u else - ln u) in *.
  assert (Rabs (ratio * l - ratio * truth) <= ratio * ln_error_bound) as Hnoise.
  { rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_right ratio) by lra. apply Rmult_le_compat_l; lra. }
  rewrite Rmult_plus_distr_l in Hroom.
  apply Rabs_le_inv in Hy. apply Rabs_le_inv in Hlimit. apply Rabs_le_inv in Hexact. apply Rabs_le_inv in Hnoise.
  apply index_spec; [lra|]. lra.
Qed.

(** ** One sample: a fraction of the grid in, whole steps out *)
(** Range::narrow of the kernel for a value x and 1 / grid: the nearest integer, the rest, and the sum of the two integers. *)
Definition narrow_rounded (x inverse_grid : R) : R := double (multiply_add x inverse_grid rounder - rounder).
Definition narrow_fraction (x inverse_grid : R) : R := multiply_add x inverse_grid (- narrow_rounded x inverse_grid).
Definition narrow_accepts (ratio x inverse_grid : R) (word : Z) : Prop := accepts ratio (narrow_fraction x inverse_grid) word.
Definition narrow_steps (ratio x inverse_grid : R) (word : Z) : R :=
  double (narrow_rounded x inverse_grid + kernel_steps ratio (narrow_fraction x inverse_grid) word).

Lemma double_half x : Rabs x <= / 2 -> Rabs (double x) <= / 2.
Proof.
  intro H. assert (double (/ 2) = / 2) as E.
  { apply double_id. replace (/ 2) with (bpow radix2 (-1)) by (simpl; lra). apply generic_format_bpow. unfold FLT_exp. lia. }
  apply Rabs_le_inv in H. apply Rabs_le. rewrite <- E at 2. rewrite <- E at 1. rewrite <- double_opp.
  split; apply round_le; try typeclasses eauto; lra.
Qed.

(** A double times a power of two is a double, or off by less than the smallest one. *)
Lemma scaling_near x e : is_double x -> Rabs (double (x * bpow radix2 e) - x * bpow radix2 e) <= tiny.
Proof.
  intro Hx. generalize tiny_range. intro Ht. destruct (Rlt_or_le (Rabs (x * bpow radix2 e)) (bpow radix2 (-1021))) as [h|h].
  - apply Rle_trans with (1 := error_le_half_ulp radix2 (FLT_exp (-1074) 53) (fun n => negb (Z.even n)) (x * bpow radix2 e)).
    rewrite ulp_FLT_small; [|typeclasses eauto|exact h]. unfold tiny. change (-1075)%Z with (-1 + -1074)%Z. rewrite bpow_plus.
    right. f_equal.
  - rewrite double_id; [rewrite Rminus_eq_0, Rabs_R0; lra|].
    apply generic_format_FLT_FLX; [apply Rle_trans with (2 := h); apply bpow_le; lia|].
    apply FLT_format_generic in Hx; [|typeclasses eauto]. destruct Hx as [[n exponent_of_x] E Hn _]. simpl in Hn.
    apply generic_format_FLX. apply (FLX_spec radix2 53 _ (Float radix2 n (exponent_of_x + e))); [|exact Hn].
    rewrite E. unfold F2R. simpl. rewrite bpow_plus. ring.
Qed.

Lemma narrow_split x e : is_double x -> Rabs (x * bpow radix2 e) <= 1125899906842625 ->
  exists j, narrow_rounded x (bpow radix2 e) = IZR j /\ (Z.abs j <= 2 ^ 51)%Z /\
  Rabs (narrow_fraction x (bpow radix2 e)) <= / 2 /\
  Rabs (narrow_fraction x (bpow radix2 e) - (x * bpow radix2 e - IZR j)) <= unit / 2 + tiny /\
  (is_double (x * bpow radix2 e) -> narrow_fraction x (bpow radix2 e) = x * bpow radix2 e - IZR j).
Proof.
  intros Hx Hrange. generalize tiny_range (scaling_near x e Hx). unfold narrow_fraction, narrow_rounded, multiply_add.
  generalize (x * bpow radix2 e) Hrange. intros t Ht Htiny Hscaled. destruct fused.
  - destruct (nearest_spec t ltac:(lra)) as (j & Ej & Hj & Hz). unfold nearest in Ej. exists j. rewrite Ej.
    change (t + - IZR j) with (t - IZR j). split; auto. split; auto. split; [now apply double_half|]. split.
    + apply Rle_trans with (1 := double_error _). unfold unit in *. lra.
    + intro Hd. now apply double_id, rest_is_double.
  - set (s := double t) in *. assert (Rabs s < 2251799813685248) as Hs.
    { apply Rabs_le_inv in Ht. apply Rabs_le_inv in Hscaled. apply Rabs_def1; lra. }
    destruct (nearest_spec s Hs) as (j & Ej & Hj & Hz). unfold nearest in Ej. exists j. rewrite Ej.
    change (s + - IZR j) with (s - IZR j).
    rewrite (double_id (s - IZR j)) by (apply rest_is_double; auto; apply double_is_double).
    split; auto. split; auto. split; auto. split.
    + replace (s - IZR j - (t - IZR j)) with (s - t) by ring. unfold unit. lra.
    + intro Hd. unfold s. now rewrite double_id.
Qed.

Lemma steps_add ratio exact sign u j k : index 1 (exact - IZR j + noise ratio sign u) = k ->
  index 1 (exact + noise ratio sign u) = (j + k)%Z.
Proof.
  intro H. replace (exact + noise ratio sign u) with (exact - IZR j + noise ratio sign u + IZR j * 1) by ring.
  rewrite index_add by lra. lia.
Qed.

(** In units of the grid. *)
Lemma index_in_steps grid scale y sign u : 0 < grid ->
  snap scale grid y sign u = index 1 (y / grid + noise (scale / grid) sign u).
Proof. intro H. unfold snap, index. f_equal. unfold noise. destruct sign; field; lra. Qed.

Lemma kernel_steps_small ratio fraction word k : 0 < ratio <= 1099511627776 -> Rabs fraction <= / 2 -> (0 <= word < 2 ^ 64)%Z ->
  70368744177664 <= to_double word -> kernel_steps ratio fraction word = IZR k -> (Z.abs k <= 2 ^ 51)%Z.
Proof.
  intros Hr Hf Hw Hl Hk. generalize tiny_range. intro Ht.
  set (u := IZR (middle word) / 18446744073709551616).
  assert (begins_with word u) as Hu by (unfold begins_with, u; lra).
  destruct (signed_ln_near word u Hw Hl Hu) as [_ Hsmall]. generalize (multiply_add_near ratio (signed_ln word) fraction ltac:(lra) Hsmall Hf).
  intro Hy. unfold kernel_steps, noisy in Hk.
  assert (Rabs (ratio * signed_ln word) <= 12495 / 1000 * ratio) as Hp.
  { rewrite Rabs_mult, (Rabs_right ratio) by lra. rewrite (Rmult_comm (12495 / 1000)). apply Rmult_le_compat_l; lra. }
  apply Rabs_le_inv in Hp. apply Rabs_le_inv in Hf. apply Rabs_le_inv in Hy.
  destruct (nearest_spec (multiply_add ratio (signed_ln word) fraction)) as (k' & Hk' & _ & Hz).
  - unfold unit in Hy. apply Rabs_def1; lra.
  - rewrite Hk' in Hk. apply eq_IZR in Hk. now subst k'.
Qed.

(** [release] of one value: [base] steps of the grid and the fraction that batch::fraction_of leaves, off by at most 2^-54. *)
Theorem one_sample scale e lower upper value base fraction word u :
  0 < scale * bpow radix2 (- e) <= 1099511627776 -> (0 <= word < 2 ^ 64)%Z -> is_double fraction -> Rabs fraction <= / 2 ->
  Rabs (fraction - (clamp_between lower upper value / bpow radix2 e - IZR base)) <= unit / 2 ->
  narrow_accepts (scale * bpow radix2 (- e)) fraction 1 word -> begins_with word u ->
  exists steps, narrow_steps (scale * bpow radix2 (- e)) fraction 1 word = IZR steps /\
  run scale (bpow radix2 e) lower upper value (sign_of word) u = clamp_between lower upper (bpow radix2 e * IZR (base + steps)).
Proof.
  intros Hr Hw Hd Hf Hexact Haccepts Hu. generalize tiny_range (bpow_gt_0 radix2 e). intros Ht Hg.
  set (ratio := scale * bpow radix2 (- e)) in *. unfold narrow_accepts, narrow_steps in *.
  destruct (narrow_split fraction 0 Hd) as (j & Ej & Hj & Hsmall & _ & Hrest); [simpl; rewrite Rmult_1_r; lra|].
  change (bpow radix2 0) with 1 in *. rewrite Rmult_1_r in Hrest. specialize (Hrest Hd).
  set (rest := narrow_fraction fraction 1) in *.
  destruct (accepted_index word ratio rest (clamp_between lower upper value / bpow radix2 e - IZR base - IZR j) u Hw Hr Hsmall)
    as (k & Ek & Hindex); auto.
  { rewrite Hrest. replace (fraction - IZR j - _) with (fraction - (clamp_between lower upper value / bpow radix2 e - IZR base)) by ring.
    lra. }
  pose proof (kernel_steps_small ratio rest word k Hr Hsmall Hw (Rle_trans _ _ _ least_uniform_enough (proj2 Haccepts)) Ek) as Hk.
  exists (j + k)%Z. split.
  - rewrite Ej, Ek, <- plus_IZR. apply double_id, integer_is_double. lia.
  - unfold run. do 3 f_equal. rewrite index_in_steps by auto.
    replace (scale / bpow radix2 e) with ratio by (unfold ratio; rewrite bpow_opp; reflexivity).
    apply steps_add. now apply steps_add.
Qed.

(** ** Many samples: doubles in, doubles out *)
(** The kernel takes the lower bound first; in order, bounds commute. *)
Definition kernel_clamp (lower upper : option R) (x : R) : R :=
  let y := match lower with Some l => Rmax l x | None => x end in
  match upper with Some b => Rmin b y | None => y end.
Definition in_order (lower upper : option R) : Prop :=
  match lower, upper with Some l, Some b => l <= b | _, _ => True end.
Definition double_bound (bound : option R) : Prop := match bound with Some b => is_double b | None => True end.

Lemma kernel_clamp_is lower upper x : in_order lower upper -> kernel_clamp lower upper x = clamp_between lower upper x.
Proof.
  intro H. unfold kernel_clamp, clamp_between. destruct lower, upper; simpl in H; auto.
  unfold Rmax, Rmin. repeat destruct Rle_dec; lra.
Qed.

Lemma clamp_is_double lower upper x : double_bound lower -> double_bound upper -> is_double x -> is_double (clamp_between lower upper x).
Proof.
  intros Hl Hu Hx. unfold clamp_between. destruct lower, upper; simpl in *; unfold Rmax, Rmin; repeat destruct Rle_dec; auto.
Qed.

Lemma double_le x y : x <= y -> double x <= double y.
Proof. intro H. apply round_le; try typeclasses eauto. exact H. Qed.

Lemma double_clamp lower upper x : double_bound lower -> double_bound upper ->
  clamp_between lower upper (double x) = double (clamp_between lower upper x).
Proof.
  intros Hl Hu.
  assert (forall b y, is_double b -> Rmin b (double y) = double (Rmin b y)) as Hmin.
  { intros b y Hb. destruct (Rle_or_lt b y) as [h|h].
    - rewrite (Rmin_left b y), (double_id b Hb) by auto. apply Rmin_left. rewrite <- (double_id b Hb). now apply double_le.
    - rewrite (Rmin_right b y) by lra. apply Rmin_right. rewrite <- (double_id b Hb). apply double_le. lra. }
  assert (forall b y, is_double b -> Rmax b (double y) = double (Rmax b y)) as Hmax.
  { intros b y Hb. destruct (Rle_or_lt b y) as [h|h].
    - rewrite (Rmax_right b y) by auto. apply Rmax_right. rewrite <- (double_id b Hb). now apply double_le.
    - rewrite (Rmax_left b y), (double_id b Hb) by lra. apply Rmax_left. rewrite <- (double_id b Hb). apply double_le. lra. }
  unfold clamp_between. destruct lower, upper; simpl in *; rewrite ?Hmin, ?Hmax; auto.
Qed.

(** Range::narrow: both bounds within 2^50 steps of zero. *)
Definition narrow_output (ratio grid inverse_grid lower upper value : R) (word : Z) : R :=
  kernel_clamp (Some lower) (Some upper)
    (double (narrow_steps ratio (kernel_clamp (Some lower) (Some upper) value) inverse_grid word * grid)).

(** Once a value is so many steps and a fraction, and the sample is accepted, the output is that of the algorithm. *)
Lemma run_in_steps scale e lower upper value j fraction word u :
  0 < scale * bpow radix2 (- e) <= 1099511627776 -> (0 <= word < 2 ^ 64)%Z -> Rabs fraction <= / 2 ->
  Rabs (fraction - (clamp_between lower upper value * bpow radix2 (- e) - IZR j)) <= unit / 2 + 2 * tiny ->
  accepts (scale * bpow radix2 (- e)) fraction word -> begins_with word u ->
  exists k, kernel_steps (scale * bpow radix2 (- e)) fraction word = IZR k /\ (Z.abs k <= 2 ^ 51)%Z /\
  run scale (bpow radix2 e) lower upper value (sign_of word) u = clamp_between lower upper (bpow radix2 e * IZR (j + k)).
Proof.
  intros Hr Hw Hsmall Hexact Haccepts Hu. generalize (bpow_gt_0 radix2 e). intro Hg.
  destruct (accepted_index word _ fraction (clamp_between lower upper value * bpow radix2 (- e) - IZR j) u Hw Hr Hsmall Hexact Haccepts Hu)
    as (k & Ek & Hindex).
  exists k. split; auto. split.
  - exact (kernel_steps_small _ fraction word k Hr Hsmall Hw (Rle_trans _ _ _ least_uniform_enough (proj2 Haccepts)) Ek).
  - unfold run. do 3 f_equal. rewrite index_in_steps by auto. unfold Rdiv. rewrite <- bpow_opp. now apply steps_add.
Qed.

Theorem narrow_samples scale e lower upper value word u :
  0 < scale * bpow radix2 (- e) <= 1099511627776 -> (-1074 <= e)%Z -> (0 <= word < 2 ^ 64)%Z -> lower <= upper ->
  Rabs lower <= 1125899906842624 * bpow radix2 e -> Rabs upper <= 1125899906842624 * bpow radix2 e ->
  is_double lower -> is_double upper -> is_double value ->
  narrow_accepts (scale * bpow radix2 (- e)) (kernel_clamp (Some lower) (Some upper) value) (bpow radix2 (- e)) word ->
  begins_with word u ->
  narrow_output (scale * bpow radix2 (- e)) (bpow radix2 e) (bpow radix2 (- e)) lower upper value word
  = run scale (bpow radix2 e) (Some lower) (Some upper) value (sign_of word) u.
Proof.
  intros Hr He Hw Horder Hl Hb Dl Db Dv Haccepts Hu. generalize (bpow_gt_0 radix2 e) tiny_range. intros Hg Ht.
  unfold narrow_output, narrow_accepts, narrow_steps in *. rewrite !kernel_clamp_is in * by exact Horder.
  set (y := clamp_between (Some lower) (Some upper) value) in *.
  assert (is_double y) as Dy by (apply clamp_is_double; auto).
  assert (Rabs (y * bpow radix2 (- e)) <= 1125899906842624) as Hy.
  { rewrite bpow_opp, Rabs_mult, (Rabs_right (/ _)) by (apply Rle_ge; left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with (bpow radix2 e); auto. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (lower <= y <= upper) as Hin by (apply (clamp_range lower upper value Horder)).
    apply Rabs_le_inv in Hl. apply Rabs_le_inv in Hb. apply Rabs_le. lra. }
  destruct (narrow_split y (- e) Dy ltac:(lra)) as (j & Ej & Hj & Hsmall & Hexact & _).
  set (rest := narrow_fraction y (bpow radix2 (- e))) in *.
  destruct (run_in_steps scale e (Some lower) (Some upper) value j rest word u) as (k & Ek & Hk & E); auto.
  { fold y. lra. }
  rewrite E, Ej, Ek, <- plus_IZR. rewrite (double_id (IZR (j + k))) by (apply integer_is_double; lia).
  rewrite double_id by (apply scaled_is_double; lia). now rewrite Rmult_comm.
Qed.

(** Range::wide: anything finite. Where |value| / grid is 2^52 or more it is an integer; what then overflows is masked. *)
Definition steady : R := 4503599627370496.
Definition wide_rounded (scaled : R) : R :=
  let magnitude := double (double (Rabs scaled + steady) - steady) in if Rlt_dec scaled 0 then - magnitude else magnitude.
Definition wide_fraction (scaled : R) : R := if Rle_dec steady (Rabs scaled) then 0 else double (scaled - wide_rounded scaled).
Definition wide_base (scaled x grid : R) : R := if Rle_dec steady (Rabs scaled) then x else double (wide_rounded scaled * grid).
Definition wide_accepts (ratio x inverse_grid : R) (word : Z) : Prop := accepts ratio (wide_fraction (double (x * inverse_grid))) word.
Definition wide_output (ratio grid inverse_grid : R) (lower upper : option R) (value : R) (word : Z) : R :=
  let x := kernel_clamp lower upper value in
  let scaled := double (x * inverse_grid) in
  kernel_clamp lower upper
    (multiply_add (kernel_steps ratio (wide_fraction scaled) word) grid (wide_base scaled x grid)).

Lemma wide_rounded_spec s : is_double s -> Rabs s < steady ->
  exists j, wide_rounded s = IZR j /\ Rabs (s - IZR j) <= / 2 /\ (Z.abs j <= 2 ^ 52)%Z.
Proof.
  intros Hd H. unfold steady in *. set (v := Rabs s + 4503599627370496). generalize (Rabs_pos s). intro H0.
  assert (double v = IZR (ZnearestE v)) as E.
  { unfold double, Generic_fmt.round, scaled_mantissa, cexp.
    rewrite (mag_unique_pos radix2 v 53); [simpl; unfold F2R; simpl; now rewrite !Rmult_1_r|]. unfold v. simpl. lra. }
  pose proof (Znearest_half (fun n => negb (Z.even n)) v) as Hk. fold (ZnearestE v) in Hk. set (n := ZnearestE v) in *.
  set (magnitude := (n - 4503599627370496)%Z).
  assert (Rabs (Rabs s - IZR magnitude) <= / 2) as Hm.
  { unfold magnitude. rewrite minus_IZR. replace (Rabs s - (IZR n - 4503599627370496)) with (v - IZR n) by (unfold v; ring). exact Hk. }
  assert (Z.abs magnitude <= 2 ^ 52)%Z as Hz.
  { apply Rabs_le_inv in Hm. assert (IZR magnitude < 4503599627370497) as H1 by lra. assert (-1 < IZR magnitude) as H2 by lra.
    apply lt_IZR in H1. apply lt_IZR in H2. lia. }
  assert (double (double v - 4503599627370496) = IZR magnitude) as Em.
  { rewrite E. unfold magnitude. rewrite <- minus_IZR. apply double_id, integer_is_double. unfold magnitude in Hz. lia. }
  unfold wide_rounded, steady. fold v. cbv zeta. rewrite Em. destruct Rlt_dec as [h|h].
  - exists (- magnitude)%Z. rewrite opp_IZR. rewrite (Rabs_left s) in Hm by auto. split; auto. split; [|lia].
    rewrite <- Rabs_Ropp. replace (- (s - - IZR magnitude)) with (- s - IZR magnitude) by ring. exact Hm.
  - exists magnitude. rewrite (Rabs_right s) in Hm by lra. auto.
Qed.

Lemma large_is_integer s : is_double s -> steady <= Rabs s -> exists j, s = IZR j.
Proof.
  intros Hd H. set (e := cexp radix2 (FLT_exp (-1074) 53) s). set (n := Ztrunc (scaled_mantissa radix2 (FLT_exp (-1074) 53) s)).
  assert (s = IZR n * bpow radix2 e) as E by exact Hd.
  assert (53 <= mag radix2 s)%Z as Hm by (apply mag_ge_bpow; unfold steady in H; simpl; lra).
  exists (n * 2 ^ e)%Z. rewrite mult_IZR, power_of_two by (unfold e, cexp, FLT_exp; lia). exact E.
Qed.

Theorem wide_samples scale e lower upper value word u :
  0 < scale * bpow radix2 (- e) <= 1099511627776 -> (-1074 <= e)%Z -> (0 <= word < 2 ^ 64)%Z -> in_order lower upper ->
  double_bound lower -> double_bound upper -> is_double value ->
  wide_accepts (scale * bpow radix2 (- e)) (kernel_clamp lower upper value) (bpow radix2 (- e)) word -> begins_with word u ->
  wide_output (scale * bpow radix2 (- e)) (bpow radix2 e) (bpow radix2 (- e)) lower upper value word
  = double (run scale (bpow radix2 e) lower upper value (sign_of word) u).
Proof.
  intros Hr He Hw Horder Dl Db Dv Haccepts Hu. generalize (bpow_gt_0 radix2 e) tiny_range. intros Hg Ht.
  unfold wide_output, wide_accepts in *. cbv zeta. rewrite !kernel_clamp_is in * by exact Horder.
  set (y := clamp_between lower upper value) in *.
  assert (is_double y) as Dy by (apply clamp_is_double; auto).
  generalize (scaling_near y (- e) Dy). intro Hnear. pose proof (double_is_double (y * bpow radix2 (- e))) as Ds.
  set (t := y * bpow radix2 (- e)) in *. set (s := double t) in *.
  (* the number of steps, what is left, and that the base is exact *)
  assert (exists j, wide_base s y (bpow radix2 e) = IZR j * bpow radix2 e /\ Rabs (wide_fraction s) <= / 2 /\
    Rabs (wide_fraction s - (t - IZR j)) <= unit / 2 + 2 * tiny) as (j & Ebase & Hsmall & Hexact).
  { unfold wide_base, wide_fraction. destruct (Rle_dec steady (Rabs s)) as [h|h].
    - destruct (large_is_integer s Ds h) as [j Ej]. exists j.
      assert (t = IZR j) as Et.
      { rewrite <- Ej. symmetry. apply double_id. apply generic_format_FLT_FLX.
        - apply Rle_trans with (bpow radix2 0); [apply bpow_le; lia|]. unfold steady in h. simpl.
          apply Rabs_le_inv in Hnear. unfold Rabs in *. repeat destruct Rcase_abs; lra.
        - apply FLT_format_generic in Dy; [|typeclasses eauto]. destruct Dy as [[n exponent_of_y] E Hn _]. simpl in Hn.
          apply generic_format_FLX. apply (FLX_spec radix2 53 _ (Float radix2 n (exponent_of_y + - e))); [|exact Hn].
          unfold t. rewrite E. unfold F2R. simpl. rewrite bpow_plus. ring. }
      split; [|split].
      + rewrite <- Et. unfold t. rewrite Rmult_assoc, <- bpow_plus. replace (- e + e)%Z with 0%Z by ring. simpl. ring.
      + rewrite Rabs_R0. lra.
      + rewrite Et. replace (0 - (IZR j - IZR j)) with 0 by ring. rewrite Rabs_R0. unfold unit. lra.
    - destruct (wide_rounded_spec s Ds ltac:(lra)) as (j & Ej & Hj & Hz). exists j. rewrite Ej.
      rewrite (double_id (s - IZR j)) by now apply rest_is_double. split; [|split; auto].
      + apply double_id, scaled_is_double; lia.
      + replace (s - IZR j - (t - IZR j)) with (s - t) by ring. unfold unit. lra. }
  destruct (run_in_steps scale e lower upper value j (wide_fraction s) word u) as (k & Ek & Hk & E); auto.
  rewrite E, Ek, Ebase, <- double_clamp by auto. f_equal.
  assert (bpow radix2 e * IZR (j + k) = IZR k * bpow radix2 e + IZR j * bpow radix2 e) as -> by (rewrite plus_IZR; ring).
  unfold multiply_add. destruct fused; auto. rewrite (double_id (IZR k * _)) by (apply scaled_is_double; lia). reflexivity.
Qed.

(** What batch::fraction_of makes of the rest beside whole steps: cut to 53 digits, and rounded where that is subnormal. *)
Definition fraction_of (exact : R) : R := double (Generic_fmt.round radix2 (FLX_exp 53) Ztrunc exact).

Theorem fraction_of_near exact : Rabs exact <= / 2 ->
  is_double (fraction_of exact) /\ Rabs (fraction_of exact) <= / 2 /\ Rabs (fraction_of exact - exact) <= unit / 2.
Proof.
  intro H. generalize tiny_range. intro Ht. unfold fraction_of. set (c := Generic_fmt.round radix2 (FLX_exp 53) Ztrunc exact).
  split; [apply double_is_double|].
  assert (Rabs c <= Rabs exact) as Hc.
  { unfold c. destruct (Rle_or_lt 0 exact) as [h|h].
    - rewrite round_ZR_DN by auto. rewrite !Rabs_right; [apply round_DN_pt; typeclasses eauto|lra|].
      apply Rle_ge. apply round_ge_generic; try typeclasses eauto; auto. apply generic_format_0.
    - rewrite round_ZR_UP by lra.
      assert (Generic_fmt.round radix2 (FLX_exp 53) Zceil exact <= 0) as Hneg.
      { apply round_le_generic; try typeclasses eauto; [apply generic_format_0|lra]. }
      assert (exact <= Generic_fmt.round radix2 (FLX_exp 53) Zceil exact) by (apply round_UP_pt; typeclasses eauto).
      rewrite (Rabs_left1 _ Hneg), (Rabs_left exact) by auto. lra. }
  assert (Rabs (c - exact) <= unit * Rabs exact * 2) as Hcut.
  { unfold c. destruct (Req_dec exact 0) as [->|Hne].
    - rewrite round_0, Rminus_eq_0, Rabs_R0 by typeclasses eauto. lra.
    - left. generalize (relative_error_FLX radix2 53 ltac:(lia) Ztrunc exact Hne). rewrite unit_value. simpl. lra. }
  split; [apply double_half; lra|].
  destruct (Rle_or_lt (/ 1048576) (Rabs exact)) as [h|h].
  - (* far from the subnormal numbers: what is cut is a double *)
    assert (is_double c) as Hd.
    { apply generic_format_FLT_FLX; [|apply generic_format_round; typeclasses eauto].
      apply Rle_trans with (bpow radix2 (-30)); [apply bpow_le; lia|]. simpl.
      replace exact with (c - (c - exact)) in h by ring. generalize (Rabs_triang c (- (c - exact))). rewrite Rabs_Ropp.
      change (c + - (c - exact)) with (c - (c - exact)). unfold unit in *. lra. }
    rewrite double_id by auto. destruct (Req_dec (Rabs exact) (/ 2)) as [E|E].
    + assert (c = exact) as ->; [|rewrite Rminus_eq_0, Rabs_R0; unfold unit; lra].
      apply round_generic; [typeclasses eauto|].
      assert (generic_format radix2 (FLX_exp 53) (/ 2)) as Hhalf.
      { replace (/ 2) with (bpow radix2 (-1)) by (simpl; lra). apply generic_format_bpow. unfold FLX_exp. lia. }
      rewrite <- E in Hhalf. unfold Rabs in Hhalf. destruct Rcase_abs in Hhalf; auto.
      apply generic_format_opp in Hhalf. now rewrite Ropp_involutive in Hhalf.
    + assert (exact <> 0) as Hne by (intro E0; rewrite E0, Rabs_R0 in h; lra).
      left. apply Rlt_le_trans with (1 := error_lt_ulp radix2 (FLX_exp 53) Ztrunc exact Hne).
      rewrite ulp_neq_0 by auto. unfold cexp, FLX_exp.
      assert (mag radix2 exact <= -1)%Z as Hm by (apply mag_le_bpow; auto; simpl; lra).
      apply Rle_trans with (bpow radix2 (-54)); [apply bpow_le; lia|]. unfold unit. simpl. lra.
  - apply Rle_trans with (Rabs (double c - c) + Rabs (c - exact)).
    + replace (double c - exact) with ((double c - c) + (c - exact)) by ring. apply Rabs_triang.
    + generalize (double_error c). unfold unit in *. lra.
Qed.

(** All of it: one value, and many in either range. *)
Theorem fast_path_exact scale e lower upper value word u :
  0 < scale * bpow radix2 (- e) <= 1099511627776 -> (-1074 <= e)%Z -> (0 <= word < 2 ^ 64)%Z -> begins_with word u ->
  let ratio := scale * bpow radix2 (- e) in
  let output := run scale (bpow radix2 e) lower upper value (sign_of word) u in
  let base := index (bpow radix2 e) (clamp_between lower upper value) in
  let fraction := fraction_of (clamp_between lower upper value / bpow radix2 e - IZR base) in
  (narrow_accepts ratio fraction 1 word ->
    exists steps, narrow_steps ratio fraction 1 word = IZR steps /\
    output = clamp_between lower upper (bpow radix2 e * IZR (base + steps))) /\
  (in_order lower upper -> double_bound lower -> double_bound upper -> is_double value ->
    wide_accepts ratio (kernel_clamp lower upper value) (bpow radix2 (- e)) word ->
    wide_output ratio (bpow radix2 e) (bpow radix2 (- e)) lower upper value word = double output) /\
  (forall low high, lower = Some low -> upper = Some high -> low <= high ->
    Rabs low <= 1125899906842624 * bpow radix2 e -> Rabs high <= 1125899906842624 * bpow radix2 e ->
    is_double low -> is_double high -> is_double value ->
    narrow_accepts ratio (kernel_clamp lower upper value) (bpow radix2 (- e)) word ->
    narrow_output ratio (bpow radix2 e) (bpow radix2 (- e)) low high value word = output).
Proof.
  intros Hr He Hw Hu ratio output base fraction. split; [|split].
  - intro Haccepts. generalize (bpow_gt_0 radix2 e). intro Hg.
    assert (Rabs (clamp_between lower upper value / bpow radix2 e - IZR base) <= / 2) as Hexact.
    { destruct (index_spec (bpow radix2 e) (clamp_between lower upper value) base Hg) as [Hin _]. specialize (Hin eq_refl).
      apply Rabs_le. split; apply Rmult_le_reg_r with (bpow radix2 e); auto; unfold Rdiv;
        rewrite Rmult_minus_distr_r, Rmult_assoc, Rinv_l, Rmult_1_r by lra; lra. }
    destruct (fraction_of_near _ Hexact) as (Hd & Hsmall & Hnear).
    exact (one_sample scale e lower upper value base fraction word u Hr Hw Hd Hsmall Hnear Haccepts Hu).
  - intros. now apply wide_samples.
  - intros low high -> -> Horder Hl Hh Dl Dh Dv Haccepts. now apply narrow_samples.
Qed.

(** The conditions can be met: U = 1/2, for the scale of one step and a value on the grid. *)
Theorem half_is_accepted : is_double ln2_constant -> 69 / 100 <= ln2_constant <= 7 / 10 -> least_uniform <= 9223372036854775808 ->
  narrow_accepts 1 0 1 (2 ^ 63).
Proof.
  intros Dln2 Hln2 Hleast. generalize tiny_range. intro Ht.
  assert (double 0 = 0) as E0 by (apply double_id, generic_format_0).
  assert (forall a, multiply_add a 0 0 = 0) as Ezero.
  { intro a. unfold multiply_add. destruct fused; rewrite !Rmult_0_r, ?E0, !Rplus_0_r; auto. }
  assert (forall a b c, a = 0 -> is_double c -> multiply_add a b c = c) as Eadd.
  { intros a b c -> Hc. unfold multiply_add. destruct fused; rewrite !Rmult_0_l, ?E0, !Rplus_0_l; now apply double_id. }
  assert (is_double rounder) as Drounder by (apply (integer_is_double 6755399441055744); lia).
  assert (narrow_fraction 0 1 = 0) as Efraction.
  { unfold narrow_fraction, narrow_rounded. rewrite (Eadd 0 1 rounder), Rminus_eq_0, E0, Ropp_0 by auto. apply Eadd; auto. apply generic_format_0. }
  assert (to_double (2 ^ 63) = bpow radix2 63) as Edouble.
  { unfold to_double. change (IZR (middle (2 ^ 63))) with 9223372036854775809. unfold double, Generic_fmt.round, scaled_mantissa, cexp.
    rewrite (mag_unique_pos radix2 _ 64) by (simpl; lra). change (FLT_exp (-1074) 53 64) with 11%Z.
    rewrite (Znearest_imp _ _ 4503599627370496).
    - unfold F2R. simpl. lra.
    - simpl. apply Rabs_def1; lra. }
  assert (pattern (bpow radix2 63) = 1086 * 2 ^ 52)%Z as Epattern.
  { unfold pattern, scaled_mantissa, cexp. rewrite mag_bpow. change (FLT_exp (-1074) 53 (63 + 1)) with 11%Z. rewrite <- bpow_plus.
    change (bpow radix2 (63 + - (11))) with (IZR 4503599627370496). rewrite Ztrunc_IZR. reflexivity. }
  assert (word_ln (2 ^ 63) = - ln2_constant) as Eln.
  { unfold word_ln. rewrite Edouble, Epattern.
    assert (significand (1086 * 2 ^ 52) = 1) as ->.
    { unfold significand, with_pattern.
      change ((1086 * 2 ^ 52 - excess (1086 * 2 ^ 52)) mod 2 ^ 52)%Z with 0%Z.
      change ((1086 * 2 ^ 52 - excess (1086 * 2 ^ 52)) / 2 ^ 52 - 1023)%Z with 0%Z. simpl. field. }
    assert (exponent (1086 * 2 ^ 52) = -1) as ->.
    { unfold exponent, with_pattern.
      change (Z.lor (Z.shiftr (excess (1086 * 2 ^ 52)) 52) 0x4330000000000000) with (1075 * 2 ^ 52 + 63)%Z.
      change ((1075 * 2 ^ 52 + 63) mod 2 ^ 52)%Z with 63%Z. change ((1075 * 2 ^ 52 + 63) / 2 ^ 52 - 1023)%Z with 52%Z.
      replace (bpow radix2 52) with 4503599627370496 by (simpl; lra).
      replace ((1 + 63 / 4503599627370496) * 4503599627370496 - (4503599627370496 + 64)) with (-1) by field.
      apply double_id. apply (integer_is_double (-1)). lia. }
    unfold kernel_ln. cbv zeta. rewrite (Rminus_eq_0 1), E0. unfold Rdiv. rewrite Rmult_0_l, E0.
    rewrite Eadd; [|reflexivity|apply double_is_double]. replace (-1 * ln2_constant) with (- ln2_constant) by ring.
    now apply double_id, is_double_opp. }
  unfold narrow_accepts, accepts, kernel_steps. rewrite Efraction, Edouble. split; [|simpl; lra].
  assert (noisy 1 0 (2 ^ 63) = - ln2_constant) as ->.
  { unfold noisy, signed_ln. change (Z.testbit (2 ^ 63) 0) with false. rewrite Eln. unfold multiply_add.
    rewrite Rmult_1_l. assert (double (- ln2_constant) = - ln2_constant) as E by now apply double_id, is_double_opp.
    destruct fused; now rewrite ?E, Rplus_0_r, E. }
  destruct (nearest_spec (- ln2_constant)) as (k & Ek & Hk & _); [apply Rabs_def1; lra|]. rewrite Ek.
  rewrite double_id by (apply rest_is_double; auto; now apply is_double_opp). apply Rabs_le_inv in Hk.
  assert (k = -1)%Z as ->.
  { assert (IZR k < 0) as H1 by lra. assert (-2 < IZR k) as H2 by lra. apply lt_IZR in H1. apply lt_IZR in H2. lia. }
  apply Rle_trans with (31 / 100); [apply Rabs_le; lra|].
  unfold limit. destruct margin_small as [Hper Hrest].
  generalize (double_error (1 * margin_per_ratio)) margin_covers_ratio margin_covers_rest. rewrite Rmult_1_l. unfold unit in *. intros H1 H2 H3.
  set (a := double margin_per_ratio) in *. generalize (double_error (a + margin_rest)). set (b := double (a + margin_rest)). intro H4.
  generalize (double_error (/ 2 - b)). intro H5. unfold unit in *.
  assert (Rabs margin_per_ratio <= / 1000) as G1.
  { generalize ln_error_nonneg. intro HE. apply Rabs_le. lra. }
  apply Rabs_le_inv in H1. pose proof (Rabs_le_inv _ _ G1) as G0.
  assert (Rabs (a + margin_rest) <= / 10) as G2 by (apply Rabs_le; lra).
  apply Rabs_le_inv in H4. pose proof (Rabs_le_inv _ _ G2) as G4.
  assert (Rabs (/ 2 - b) <= 1) as G3 by (apply Rabs_le; lra). apply Rabs_le_inv in H5. lra.
Qed.
End FastPath.
