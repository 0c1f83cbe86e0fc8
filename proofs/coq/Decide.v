(** An executable decision of the output from finitely many bits of U, in verified
    interval arithmetic (coq-interval), and its correctness.

    [decide_row] says whether U in [b/2^n, (b+1)/2^n] settles the index k. *)
From Coq Require Import Reals ZArith Lra Lia Bool.
From Flocq Require Import Core.
From Interval Require Import Xreal Basic Sig Interval Float_full Float.
From SnapDP Require Import Rounding Sampler Mechanism.
Open Scope R_scope.

(** A dyadic m * 2^e. *)
Record dyadic := Dyadic { mant : Z; expo : Z }.
Definition d2r (d : dyadic) : R := IZR (mant d) * bpow radix2 (expo d).

(** Comparison and clamping of dyadics, exactly. *)
Definition dle (a b : dyadic) : bool :=
  if (expo a <=? expo b)%Z
  then (mant a <=? mant b * 2 ^ (expo b - expo a))%Z
  else (mant a * 2 ^ (expo a - expo b) <=? mant b)%Z.

Lemma dle_correct a b : dle a b = true <-> d2r a <= d2r b.
Proof.
  unfold dle, d2r. destruct a as [ma ea], b as [mb eb]; simpl.
  destruct (Z.leb_spec ea eb) as [h|h]; rewrite Z.leb_le.
  - replace (bpow radix2 eb) with (bpow radix2 (eb - ea) * bpow radix2 ea)
      by (rewrite <- bpow_plus; f_equal; lia).
    rewrite <- Rmult_assoc, <- (IZR_Zpower radix2 (eb - ea)) by lia. rewrite <- mult_IZR. split; intro H.
    + apply Rmult_le_compat_r; [apply bpow_ge_0|now apply IZR_le].
    + apply le_IZR. now apply Rmult_le_reg_r in H; [|apply bpow_gt_0].
  - replace (bpow radix2 ea) with (bpow radix2 (ea - eb) * bpow radix2 eb)
      by (rewrite <- bpow_plus; f_equal; lia).
    rewrite <- Rmult_assoc, <- (IZR_Zpower radix2 (ea - eb)) by lia. rewrite <- mult_IZR. split; intro H.
    + apply Rmult_le_compat_r; [apply bpow_ge_0|now apply IZR_le].
    + apply le_IZR. now apply Rmult_le_reg_r in H; [|apply bpow_gt_0].
Qed.

Definition dmin a b := if dle a b then a else b.
Definition dmax a b := if dle a b then b else a.
Definition clamp_low (lo : option dyadic) x := match lo with Some l => dmax l x | None => x end.
Definition clamp_high (hi : option dyadic) x := match hi with Some h => dmin h x | None => x end.

Lemma dmin_correct a b : d2r (dmin a b) = Rmin (d2r a) (d2r b).
Proof.
  unfold dmin. destruct (dle a b) eqn:E.
  - apply dle_correct in E. now rewrite Rmin_left.
  - rewrite Rmin_right; auto. apply Rnot_lt_le. intro H.
    assert (dle a b = true) by (apply dle_correct; lra). congruence.
Qed.
Lemma dmax_correct a b : d2r (dmax a b) = Rmax (d2r a) (d2r b).
Proof.
  unfold dmax. destruct (dle a b) eqn:E.
  - apply dle_correct in E. now rewrite Rmax_right.
  - rewrite Rmax_left; auto. apply Rnot_lt_le. intro H.
    assert (dle a b = true) by (apply dle_correct; lra). congruence.
Qed.

Definition dclamp (lower upper : option dyadic) (x : dyadic) : dyadic := clamp_low lower (clamp_high upper x).
Definition real_bound : option dyadic -> option R := option_map d2r.

Lemma dclamp_correct lower upper x :
  d2r (dclamp lower upper x) = clamp_between (real_bound lower) (real_bound upper) (d2r x).
Proof.
  unfold dclamp, clamp_between, clamp_low, clamp_high.
  destruct lower, upper; simpl; rewrite ?dmax_correct, ?dmin_correct; reflexivity.
Qed.

(** n / d rounded up to a dyadic of about [bits] bits. *)
Definition div_up (bits : Z) (a b : dyadic) : dyadic :=
  let s := Z.max 0 (bits + Z.log2 (mant b) - Z.log2 (mant a)) in
  let q := (- ((- (mant a * 2 ^ s)) / mant b))%Z in
  (* one bit too many: shorten, upward *)
  let r := Z.max 0 (Z.log2 (q - 1) + 1 - bits) in
  Dyadic (- ((- q) / 2 ^ r)) (expo a - expo b - s + r).

Lemma zdiv_up a b : (0 < b)%Z -> (a <= - ((- a) / b) * b)%Z.
Proof. intro H. generalize (Z.div_mod (- a) b ltac:(lia)) (Z.mod_pos_bound (- a) b H). nia. Qed.

Lemma IZR_pow2 e : (0 <= e)%Z -> IZR (2 ^ e) = bpow radix2 e.
Proof. exact (IZR_Zpower radix2 e). Qed.

Lemma div_up_correct bits a b : (0 < mant a)%Z -> (0 < mant b)%Z ->
  d2r a / d2r b <= d2r (div_up bits a b).
Proof.
  intros Ha Hb. destruct a as [ma ea], b as [mb eb]; unfold d2r, div_up; simpl in *.
  set (s := Z.max 0 _). set (q := (- (- (ma * 2 ^ s) / mb))%Z). set (r := Z.max 0 _).
  assert (0 <= s)%Z by (unfold s; lia). assert (0 <= r)%Z by (unfold r; lia).
  assert (ma * 2 ^ s <= q * mb)%Z as H1 by (unfold q; apply zdiv_up; auto).
  assert (q <= - (- q / 2 ^ r) * 2 ^ r)%Z as H2 by (apply zdiv_up; apply Z.pow_pos_nonneg; lia).
  set (t := (- (- q / 2 ^ r))%Z) in *.
  assert (ma * 2 ^ s <= t * 2 ^ r * mb)%Z as H3 by nia.
  apply IZR_le in H3. rewrite !mult_IZR in H3.
  rewrite (IZR_pow2 s), (IZR_pow2 r) in H3 by auto.
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

(** The scale for epsilon = num / den: sensitivity / epsilon, rounded up to 53 bits. *)
Definition scale (num den : Z) (sensitivity : dyadic) : dyadic :=
  div_up 53 (Dyadic (mant sensitivity * den) (expo sensitivity)) (Dyadic num 0).

Theorem scale_is_enough num den sensitivity : (0 < num)%Z -> (0 < den)%Z -> (0 < mant sensitivity)%Z ->
  d2r sensitivity / (IZR num / IZR den) <= d2r (scale num den sensitivity).
Proof.
  intros Hn Hd Hs. unfold scale.
  assert (0 < IZR num /\ 0 < IZR den) as [Hn' Hd'] by (split; now apply IZR_lt).
  replace (d2r sensitivity / (IZR num / IZR den))
    with (d2r (Dyadic (mant sensitivity * den) (expo sensitivity)) / d2r (Dyadic num 0)).
  - apply div_up_correct; simpl; lia.
  - unfold d2r. simpl. rewrite mult_IZR. field. lra.
Qed.

Theorem scale_is_positive num den sensitivity : (0 < num)%Z -> (0 < den)%Z -> (0 < mant sensitivity)%Z ->
  (0 < mant (scale num den sensitivity))%Z.
Proof.
  intros Hn Hd Hs. generalize (scale_is_enough num den sensitivity Hn Hd Hs).
  assert (0 < d2r sensitivity / (IZR num / IZR den)) as H.
  { unfold d2r. apply IZR_lt in Hn. apply IZR_lt in Hd. apply IZR_lt in Hs.
    apply Rdiv_lt_0_compat; [|now apply Rdiv_lt_0_compat]. apply Rmult_lt_0_compat; auto. apply bpow_gt_0. }
  intro H'. assert (0 < d2r (scale num den sensitivity)) as H2 by lra.
  unfold d2r in H2. apply lt_IZR. generalize (bpow_gt_0 radix2 (expo (scale num den sensitivity))). nra.
Qed.

(** The grid where none is asked for: the exponent of the least power of two that is not below the scale. *)
Definition least_power (d : dyadic) : Z :=
  let m := mant d in
  (Z.log2 m + (if (2 ^ Z.log2 m =? m)%Z then 0 else 1) + expo d)%Z.

Theorem least_power_is_least d : (0 < mant d)%Z ->
  d2r d <= bpow radix2 (least_power d) < 2 * d2r d.
Proof.
  intro H. unfold least_power, d2r. destruct (Z.log2_spec (mant d) H) as [Hl Hu].
  generalize (Z.log2_nonneg (mant d)). intro H0.
  rewrite bpow_plus. generalize (bpow_gt_0 radix2 (expo d)). intro Hb.
  assert (forall e, (0 <= e)%Z -> bpow radix2 e = IZR (2 ^ e)) as HP by (intros; symmetry; now apply IZR_pow2).
  destruct (Z.eqb_spec (2 ^ Z.log2 (mant d)) (mant d)) as [E|E].
  - rewrite Z.add_0_r, (HP (Z.log2 (mant d)) H0), E. apply IZR_lt in H. split; nra.
  - rewrite (HP (Z.log2 (mant d) + 1)%Z) by lia. rewrite <- Z.add_1_r in Hu.
    assert (IZR (mant d) < IZR (2 ^ (Z.log2 (mant d) + 1))) as H1 by now apply IZR_lt.
    assert (IZR (2 ^ (Z.log2 (mant d) + 1)) < 2 * IZR (mant d)) as H2.
    { rewrite <- mult_IZR. apply IZR_lt. rewrite Z.pow_add_r by lia. lia. }
    split; nra.
Qed.

Definition grid_exponent (grid : option Z) (scale : dyadic) : Z :=
  match grid with Some e => e | None => least_power scale end.

Module Decide (F : FloatOps with Definition radix := radix2 with Definition sensible_format := true).
Module I := FloatIntervalFull F.

Section Prec.
Variable prec : F.precision.

Definition ofd (d : dyadic) : I.type :=
  I.mul prec (I.fromZ prec (mant d)) (I.power_int prec (I.fromZ prec 2) (expo d)).

Lemma power_2 e : Xpower_int (Xreal 2) e = Xreal (bpow radix2 e).
Proof.
  assert (forall p, (2 ^ Pos.to_nat p) = IZR (Z.pow_pos 2 p)) as H.
  { intro p. rewrite Zpower_pos_nat, <- (Zpower_nat_powerRZ_absolu_aux p) || idtac.
    rewrite pow_IZR. f_equal. rewrite Zpower_pos_nat, Zpower_nat_Z. reflexivity. }
  destruct e as [|p|p]; simpl.
  - reflexivity.
  - f_equal. apply H.
  - unfold is_zero. destruct (Req_bool_spec 2 0); [lra|]. f_equal. f_equal. apply H.
Qed.

Lemma ofd_correct d : contains (I.convert (ofd d)) (Xreal (d2r d)).
Proof.
  unfold ofd, d2r.
  change (Xreal (IZR (mant d) * bpow radix2 (expo d)))
    with (Xmul (Xreal (IZR (mant d))) (Xreal (bpow radix2 (expo d)))).
  apply I.mul_correct; [apply I.fromZ_correct|].
  rewrite <- power_2. apply (I.power_int_correct prec (expo d)). apply I.fromZ_correct.
Qed.

(** U in [b/2^n, (b+1)/2^n]. *)
Definition bits_interval (b n : Z) : I.type := I.join (ofd (Dyadic b (- n))) (ofd (Dyadic (b + 1) (- n))).

Lemma bits_interval_correct b n u : d2r (Dyadic b (- n)) <= u <= d2r (Dyadic (b + 1) (- n)) ->
  contains (I.convert (bits_interval b n)) (Xreal u).
Proof.
  intro H. unfold bits_interval.
  apply (contains_connected _ (d2r (Dyadic b (- n))) (d2r (Dyadic (b + 1) (- n)))); auto.
  - apply I.join_correct. left. apply ofd_correct.
  - apply I.join_correct. right. apply ofd_correct.
Qed.

(** (y + S lam ln U) / g + 1/2 with g = 2^eg, and its floor. *)
Definition scaled (lam : dyadic) (eg : Z) (y : dyadic) (s : bool) (b n : Z) : I.type :=
  let l := I.mul prec (ofd lam) (I.ln prec (bits_interval b n)) in
  let z := I.add prec (ofd y) (if s then l else I.neg l) in
  I.add prec (I.mul prec z (ofd (Dyadic 1 (- eg)))) (ofd (Dyadic 1 (-1))).

(** k is the floor of all of an interval. *)
Definition settles (z : I.type) (k : Z) : bool :=
  let r := I.sub prec z (I.fromZ prec k) in
  match I.sign_large r with Xgt | Xeq => true | _ => false end &&
  match I.sign_strict (I.sub prec (I.fromZ prec 1) r) with Xgt => true | _ => false end.

(** A candidate, from the lower end; nothing is trusted of it. *)
Definition candidate (z : I.type) : Z :=
  match F.toF (I.lower z) with
  | Basic.Float s p e =>
      let m := if s then Z.neg p else Z.pos p in
      if (0 <=? e)%Z then (m * 2 ^ e)%Z else (m / 2 ^ (- e))%Z
  | _ => 0%Z
  end.

(** The index that the bits decide, if they do. *)
Definition decide_index (lam : dyadic) (eg : Z) (y : dyadic) (s : bool) (b n : Z) : option Z :=
  let z := scaled lam eg y s b n in
  let k := candidate z in
  if settles z k then Some k else None.
End Prec.

Lemma scaled_correct prec lam eg y s b n u : 0 < u ->
  d2r (Dyadic b (- n)) <= u <= d2r (Dyadic (b + 1) (- n)) ->
  contains (I.convert (scaled prec lam eg y s b n))
    (Xreal ((d2r y + noise (d2r lam) s u) / bpow radix2 eg + / 2)).
Proof.
  intros H0 Hu. unfold scaled.
  replace (Xreal ((d2r y + noise (d2r lam) s u) / bpow radix2 eg + / 2))
    with (Xadd (Xmul (Xadd (Xreal (d2r y)) (Xreal (noise (d2r lam) s u))) (Xreal (d2r (Dyadic 1 (- eg)))))
               (Xreal (d2r (Dyadic 1 (-1))))).
  - apply I.add_correct; [|apply ofd_correct]. apply I.mul_correct; [|apply ofd_correct].
    apply I.add_correct; [apply ofd_correct|].
    assert (contains (I.convert (I.mul prec (ofd prec lam) (I.ln prec (bits_interval prec b n))))
              (Xreal (d2r lam * ln u))) as HL.
    { change (Xreal (d2r lam * ln u)) with (Xmul (Xreal (d2r lam)) (Xreal (ln u))).
      apply I.mul_correct; [apply ofd_correct|].
      replace (Xreal (ln u)) with (Xln (Xreal u)).
      - apply I.ln_correct. now apply bits_interval_correct.
      - simpl. unfold Xln'. destruct (is_positive_spec u); [reflexivity|lra]. }
    destruct s; simpl noise; auto.
    change (Xreal (- (d2r lam * ln u))) with (Xneg (Xreal (d2r lam * ln u))). now apply I.neg_correct.
  - unfold d2r. simpl mant. simpl expo. simpl. f_equal. rewrite bpow_opp. unfold Z.pow_pos. simpl.
    field; try apply Rgt_not_eq, bpow_gt_0.
Qed.

Lemma settles_correct prec z k x : settles prec z k = true -> contains (I.convert z) (Xreal x) -> floor x = k.
Proof.
  unfold settles. intros H Hx. apply andb_prop in H. destruct H as [H1 H2].
  set (r := I.sub prec z (I.fromZ prec k)) in *.
  assert (contains (I.convert r) (Xreal (x - IZR k))) as Hr.
  { change (Xreal (x - IZR k)) with (Xsub (Xreal x) (Xreal (IZR k))).
    apply I.sub_correct; auto. apply I.fromZ_correct. }
  assert (contains (I.convert (I.sub prec (I.fromZ prec 1) r)) (Xreal (1 - (x - IZR k)))) as Hs.
  { change (Xreal (1 - (x - IZR k))) with (Xsub (Xreal 1) (Xreal (x - IZR k))).
    apply I.sub_correct; auto. apply I.fromZ_correct. }
  apply floor_spec. split.
  - generalize (I.sign_large_correct r). destruct (I.sign_large r); try discriminate; intro HL.
    + specialize (HL _ Hr). injection HL. lra.
    + destruct (HL _ Hr) as [_ HL']. simpl in HL'. lra.
  - generalize (I.sign_strict_correct (I.sub prec (I.fromZ prec 1) r)).
    destruct (I.sign_strict _); try discriminate; intro HL.
    destruct (HL _ Hs) as [_ HL']. simpl in HL'. lra.
Qed.

(** What is decided from the bits is what every real U with these bits gives. *)
Theorem decide_index_correct prec lam eg y s b n k u :
  decide_index prec lam eg y s b n = Some k -> 0 < u ->
  d2r (Dyadic b (- n)) <= u <= d2r (Dyadic (b + 1) (- n)) ->
  snap (d2r lam) (bpow radix2 eg) (d2r y) s u = k.
Proof.
  unfold decide_index. destruct (settles _ _ _) eqn:E; [|discriminate].
  intros H H0 Hu. injection H as <-. apply (settles_correct prec _ _ _ E).
  now apply scaled_correct.
Qed.

(** ** The whole of exact mode, from the parameters of a row to its output. *)
Definition output prec (num den : Z) (sensitivity : dyadic) (lower upper : option dyadic) (value : dyadic) (grid : option Z)
    (s : bool) (b n : Z) : option dyadic :=
  let lam := scale num den sensitivity in
  let eg := grid_exponent grid lam in
  match decide_index prec lam eg (dclamp lower upper value) s b n with
  | Some k => Some (dclamp lower upper (Dyadic k eg))
  | None => None
  end.

(** Where it has a result, every real U with these bits gives it, in the algorithm [run]. *)
Theorem output_correct prec num den sensitivity lower upper value grid s b n out u :
  output prec num den sensitivity lower upper value grid s b n = Some out -> 0 < u ->
  d2r (Dyadic b (- n)) <= u <= d2r (Dyadic (b + 1) (- n)) ->
  let lam := scale num den sensitivity in
  run (d2r lam) (bpow radix2 (grid_exponent grid lam)) (real_bound lower) (real_bound upper) (d2r value) s u = d2r out.
Proof.
  unfold output. intros H H0 Hu.
  destruct (decide_index _ _ _ _ _ _ _) as [k|] eqn:E; [|discriminate].
  injection H as <-. simpl. unfold run. rewrite <- dclamp_correct.
  rewrite (decide_index_correct _ _ _ _ _ _ _ _ u E H0 Hu).
  rewrite dclamp_correct. f_equal. unfold d2r. simpl. ring.
Qed.
End Decide.
