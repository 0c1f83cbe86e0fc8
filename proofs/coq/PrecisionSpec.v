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
    exists (Float radix2 (mant d) (expo d)); [reflexivity|]. simpl.
    change (2 ^ p)%Z with (Zpower radix2 p).
    destruct (Z.eq_dec (mant d) 0) as [E|E]; [rewrite E; simpl; apply Z.pow_pos_nonneg; lia|].
    apply Z.lt_le_trans with (2 ^ (Z.log2 (Z.abs (mant d)) + 1))%Z.
    + generalize (proj2 (Z.log2_spec (Z.abs (mant d)) ltac:(lia))). now rewrite <- Z.add_1_r.
    + apply Z.pow_le_mono_r; lia.
  - set (s := (Z.log2 (Z.abs (mant d)) + 1 - p)%Z) in *.
    assert (mant d <> 0)%Z as Hm by (intro E; unfold s in h; rewrite E in h; simpl in h; lia).
    assert (mag radix2 (d2r d) = (Z.log2 (Z.abs (mant d)) + 1 + expo d)%Z :> Z) as HM.
    { unfold d2r. change (IZR (mant d) * bpow radix2 (expo d)) with (F2R (Float radix2 (mant d) (expo d))).
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
