(** Bits drawn one after the other: the probability that n fair bits leave the output undecided goes to 0, with a bound, and
    the probability that they decide k goes to that of k. Nothing here assumes a uniform real: there are 2^n equally likely
    strings of bits and two signs. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Coquelicot Require Import Coquelicot.
From SnapDP Require Import Law Rounding Laplace Snapping Sampler Mechanism LazyBits.
Import ListNotations.
Open Scope R_scope.

Section Bits.
Variables scale grid value : R.
Hypothesis scale_positive : 0 < scale.
Hypothesis grid_positive : 0 < grid.

Definition strings (n : nat) : list Z := zrange 0 (2 ^ n).

(** The index at the least number with the bits b. *)
Definition index_at (n : nat) (s : bool) (b : Z) : Z := snap scale grid value s (IZR b / 2 ^ n).

(** b decides k when the least and the greatest number with these bits give k. *)
Definition decides (n : nat) (s : bool) (k b : Z) : Prop := (1 <= b)%Z /\ index_at n s b = k /\ index_at n s (b + 1) = k.
Definition undecided (n : nat) (s : bool) (b : Z) : Prop := forall k, ~ decides n s k b.

(** Probabilities under fair bits and a fair sign. *)
Definition fair (n : nat) (event : bool -> Z -> Prop) : R :=
  (sumf (fun b => ind (event true b)) (strings n) + sumf (fun b => ind (event false b)) (strings n)) / 2 / 2 ^ n.

Lemma power_of_two n : 0 < 2 ^ n.
Proof. apply pow_lt. lra. Qed.

Lemma place n b : (1 <= b)%Z -> 0 < IZR b / 2 ^ n.
Proof. intro H. apply Rdiv_lt_0_compat; [apply IZR_lt; lia|apply power_of_two]. Qed.

(** Each undecided string moves the index, which moves one way. *)
Lemma index_moves n s b : (1 <= b)%Z ->
  ind (undecided n s b) <= (if s then 1 else -1) * (IZR (index_at n s (b + 1)) - IZR (index_at n s b)).
Proof.
  intro Hb. generalize (place n b Hb) (place n (b + 1) ltac:(lia)) (power_of_two n). intros H0 H1 Hp.
  assert (ln (IZR b / 2 ^ n) <= ln (IZR (b + 1) / 2 ^ n)) as HL.
  { left. apply ln_increasing; auto. apply Rmult_lt_compat_r; [now apply Rinv_0_lt_compat|]. apply IZR_lt. lia. }
  apply (Rmult_le_compat_l scale) in HL; [|lra].
  assert (if s then (index_at n s b <= index_at n s (b + 1))%Z else (index_at n s (b + 1) <= index_at n s b)%Z) as HM.
  { unfold index_at, snap. destruct s; apply index_le; auto; simpl; lra. }
  unfold ind. destruct (decide (undecided n s b)) as [h|h].
  - assert (index_at n s b <> index_at n s (b + 1)) as Hne.
    { intro E. apply (h (index_at n s b)). unfold decides. auto. }
    destruct s.
    + assert (index_at n true b + 1 <= index_at n true (b + 1))%Z as H by lia. apply IZR_le in H. rewrite plus_IZR in H. lra.
    + assert (index_at n false (b + 1) + 1 <= index_at n false b)%Z as H by lia. apply IZR_le in H. rewrite plus_IZR in H. lra.
  - destruct s; apply IZR_le in HM; lra.
Qed.

Lemma index_spread x y : Rabs (IZR (index grid x) - IZR (index grid y)) <= Rabs (x - y) / grid + 1.
Proof.
  generalize (round_near grid x grid_positive) (round_near grid y grid_positive). unfold round. intros [X1 X2] [Y1 Y2].
  apply Rmult_le_reg_l with grid; auto.
  replace (grid * (Rabs (x - y) / grid + 1)) with (Rabs (x - y) + grid) by (field; lra).
  rewrite <- (Rabs_right grid) at 1 by lra. rewrite <- Rabs_mult.
  replace (grid * (IZR (index grid x) - IZR (index grid y)))
    with (grid * IZR (index grid x) - grid * IZR (index grid y)) by ring.
  unfold Rabs. repeat destruct Rcase_abs; lra.
Qed.

Lemma zrange_snoc a m : zrange a (S m) = zrange a m ++ [(a + Z.of_nat m)%Z].
Proof.
  revert a. induction m as [|m IH]; intro a; [simpl; f_equal; lia|].
  change (zrange a (S (S m))) with (a :: zrange (a + 1) (S m)). rewrite IH. simpl. do 3 f_equal. lia.
Qed.

(** All strings but that of zeros, up to m. *)
Lemma undecided_sum n s m : sumf (fun b => ind (undecided n s b)) (zrange 1 m)
  <= (if s then 1 else -1) * (IZR (index_at n s (Z.of_nat m + 1)) - IZR (index_at n s 1)).
Proof.
  induction m as [|m IH]; [simpl; destruct s; lra|].
  rewrite zrange_snoc, sumf_app. cbn [sumf]. generalize (index_moves n s (1 + Z.of_nat m) ltac:(lia)).
  replace (1 + Z.of_nat m + 1)%Z with (Z.of_nat (S m) + 1)%Z by lia.
  replace (1 + Z.of_nat m)%Z with (Z.of_nat m + 1)%Z by lia. intro H. destruct s; lra.
Qed.

Theorem undecided_strings n s :
  sumf (fun b => ind (undecided n s b)) (strings n) <= 2 + scale * (INR n * ln 2) / grid.
Proof.
  unfold strings. assert (exists m, 2 ^ n = S m)%nat as [m Hm].
  { exists (2 ^ n - 1)%nat. generalize (Nat.pow_nonzero 2 n ltac:(lia)). lia. }
  rewrite Hm. change (zrange 0 (S m)) with (0%Z :: zrange 1 m). simpl sumf.
  assert (ind (undecided n s 0) <= 1) as H0 by (unfold ind; destruct decide; lra).
  assert (IZR (Z.of_nat m + 1) / 2 ^ n = 1) as E1.
  { replace (Z.of_nat m + 1)%Z with (Z.of_nat (2 ^ n)) by lia. rewrite <- INR_IZR_INZ, pow_INR. simpl (INR 2).
    replace (1 + 1) with 2 by ring. field. apply Rgt_not_eq, power_of_two. }
  assert (IZR 1 / 2 ^ n = / 2 ^ n) as E2 by (unfold Rdiv; ring).
  assert (ln (/ 2 ^ n) = - (INR n * ln 2)) as EL.
  { rewrite ln_Rinv by apply power_of_two. f_equal. rewrite <- Rpower_pow by lra. unfold Rpower. now rewrite ln_exp. }
  assert ((if s then 1 else -1) * (IZR (index_at n s (Z.of_nat m + 1)) - IZR (index_at n s 1)) <= scale * (INR n * ln 2) / grid + 1).
  { unfold index_at, snap. rewrite E1, E2.
    generalize (index_spread (value + noise scale s 1) (value + noise scale s (/ 2 ^ n))).
    assert (0 <= INR n * ln 2) as Hn.
    { apply Rmult_le_pos; [apply pos_INR|]. rewrite <- ln_1. left. apply ln_increasing; lra. }
    assert (Rabs (value + noise scale s 1 - (value + noise scale s (/ 2 ^ n))) = scale * (INR n * ln 2)) as ->.
    { destruct s; simpl noise; rewrite ln_1, EL.
      - replace (value + scale * 0 - (value + scale * - (INR n * ln 2))) with (scale * (INR n * ln 2)) by ring.
        apply Rabs_right, Rle_ge, Rmult_le_pos; lra.
      - replace (value + - (scale * 0) - (value + - (scale * - (INR n * ln 2)))) with (- (scale * (INR n * ln 2))) by ring.
        rewrite Rabs_Ropp. apply Rabs_right, Rle_ge, Rmult_le_pos; lra. }
    unfold Rabs. destruct s, Rcase_abs; lra. }
  generalize (undecided_sum n s m). lra.
Qed.

Theorem undecided_probability n : fair n (undecided n) <= (2 + scale * (INR n * ln 2) / grid) / 2 ^ n.
Proof.
  unfold fair. generalize (undecided_strings n true) (undecided_strings n false) (power_of_two n). intros H1 H2 H3.
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. lra.
Qed.

(** Its limit. *)
Lemma bernoulli n : INR n <= 2 * (3 / 2) ^ n.
Proof.
  assert (1 + INR n / 2 <= (3 / 2) ^ n) as H; [|lra].
  induction n as [|n IH]; [simpl; lra|]. rewrite S_INR. simpl pow. generalize (pos_INR n). lra.
Qed.

Theorem undecided_vanishes e : 0 < e -> exists N, forall n, (N <= n)%nat -> fair n (undecided n) < e.
Proof.
  intro He. set (c := 2 + 2 * (scale * ln 2 / grid)).
  assert (0 < ln 2) as Hln by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (0 < scale * ln 2 / grid) as Hk by (apply Rdiv_lt_0_compat; auto; now apply Rmult_lt_0_compat).
  assert (0 < c) as Hc by (unfold c; lra).
  destruct (pow_lt_1_zero (3 / 4)) with (y := e / c) as [N HN]; [rewrite Rabs_right; lra|now apply Rdiv_lt_0_compat|].
  exists N. intros n Hn. specialize (HN n Hn). rewrite Rabs_right in HN by (apply Rle_ge, pow_le; lra).
  apply Rle_lt_trans with (1 := undecided_probability n).
  apply Rle_lt_trans with (c * (3 / 4) ^ n).
  - generalize (power_of_two n) (bernoulli n). intros Hp Hb.
    apply Rmult_le_reg_r with (2 ^ n); auto. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra.
    replace (c * (3 / 4) ^ n * 2 ^ n) with (c * (3 / 2) ^ n).
    + assert (1 <= (3 / 2) ^ n) by (apply pow_R1_Rle; lra).
      replace (scale * (INR n * ln 2) / grid) with (scale * ln 2 / grid * INR n) by (field; lra).
      assert (scale * ln 2 / grid * INR n <= scale * ln 2 / grid * (2 * (3 / 2) ^ n)) by (apply Rmult_le_compat_l; lra).
      unfold c. lra.
    + rewrite Rmult_assoc, <- Rpow_mult_distr. f_equal. f_equal. field.
  - apply (Rmult_lt_compat_l c) in HN; auto. replace (c * (e / c)) with e in HN by (field; lra). lra.
Qed.

(** ** The law as the limit of what bits decide *)
Lemma uniform_strings (P : Z -> Prop) n : uniform (fun u => P (floor (u * 2 ^ n))) (sumf (fun b => ind (P b)) (strings n) / 2 ^ n).
Proof.
  generalize (power_of_two n). intro Hp. unfold uniform, strings.
  assert (forall m, is_RInt (fun u => ind (P (floor (u * 2 ^ n)))) 0 (INR m / 2 ^ n)
    (sumf (fun b => ind (P b)) (zrange 0 m) / 2 ^ n)) as H.
  { induction m as [|m IH].
    - simpl. replace (0 / 2 ^ n) with 0 by (field; lra). apply (is_RInt_point (V := R_NormedModule)).
    - rewrite zrange_snoc, sumf_app. simpl sumf. rewrite S_INR.
      replace ((sumf (fun b => ind (P b)) (zrange 0 m) + (ind (P (Z.of_nat m)) + 0)) / 2 ^ n)
        with (@plus R_AbelianGroup (sumf (fun b => ind (P b)) (zrange 0 m) / 2 ^ n) (ind (P (Z.of_nat m)) / 2 ^ n))
        by (unfold plus; simpl; field; lra).
      apply (is_RInt_Chasles (V := R_NormedModule) _ 0 (INR m / 2 ^ n)); [exact IH|].
      generalize (is_RInt_const (V := R_NormedModule) (INR m / 2 ^ n) ((INR m + 1) / 2 ^ n) (ind (P (Z.of_nat m)))).
      replace (scal ((INR m + 1) / 2 ^ n - INR m / 2 ^ n) (ind (P (Z.of_nat m)) : R_NormedModule))
        with (ind (P (Z.of_nat m)) / 2 ^ n) by (unfold scal; simpl; unfold mult; simpl; field; lra).
      intro HC. eapply is_RInt_ext; [|exact HC]. intros u Hu.
      assert (INR m / 2 ^ n <= (INR m + 1) / 2 ^ n) as Hle by (apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|lra]).
      rewrite Rmin_left, Rmax_right in Hu by auto.
      assert (floor (u * 2 ^ n) = Z.of_nat m) as ->; [|reflexivity].
      apply floor_spec. rewrite <- INR_IZR_INZ. destruct Hu as [U1 U2].
      apply (Rmult_lt_compat_r (2 ^ n)) in U1; auto. apply (Rmult_lt_compat_r (2 ^ n)) in U2; auto.
      replace (INR m / 2 ^ n * 2 ^ n) with (INR m) in U1 by (field; lra).
      replace ((INR m + 1) / 2 ^ n * 2 ^ n) with (INR m + 1) in U2 by (field; lra). lra. }
  specialize (H (2 ^ n)%nat). rewrite pow_INR in H. simpl (INR 2) in H. replace (1 + 1) with 2 in H by ring.
  replace (2 ^ n / 2 ^ n) with 1 in H by (field; lra). exact H.
Qed.

Lemma uniform_mono (E F : R -> Prop) p q : (forall u, 0 < u < 1 -> E u -> F u) -> uniform E p -> uniform F q -> p <= q.
Proof.
  intros H HE HF. apply (is_RInt_le (fun u => ind (E u)) (fun u => ind (F u)) 0 1); auto; [lra|].
  intros u Hu. unfold ind. destruct (decide (E u)) as [e|e], (decide (F u)) as [f|f]; try lra. exfalso. auto.
Qed.

Lemma string_of u n : 0 < u < 1 -> let b := floor (u * 2 ^ n) in IZR b / 2 ^ n <= u <= IZR (b + 1) / 2 ^ n.
Proof.
  intros Hu b. generalize (floor_bounds (u * 2 ^ n)) (power_of_two n). fold b. intros [H1 H2] Hp. rewrite plus_IZR.
  split; apply Rmult_le_reg_r with (2 ^ n); auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

(** A string that decides k does so for every real number that begins with it. *)
Lemma decided_is_true n s k u : 0 < u < 1 -> decides n s k (floor (u * 2 ^ n)) -> snap scale grid value s u = k.
Proof.
  intros Hu (Hb & H1 & H2).
  apply (bits_decide scale grid scale_positive grid_positive value s
    (IZR (floor (u * 2 ^ n)) / 2 ^ n) (IZR (floor (u * 2 ^ n) + 1) / 2 ^ n)); auto.
  - now apply place.
  - now apply string_of.
Qed.

Lemma one_sign n s k p : uniform (fun u => snap scale grid value s u = k) p ->
  sumf (fun b => ind (decides n s k b)) (strings n) / 2 ^ n <= p <=
  sumf (fun b => ind (decides n s k b)) (strings n) / 2 ^ n + sumf (fun b => ind (undecided n s b)) (strings n) / 2 ^ n.
Proof.
  intro Hp. split.
  - apply (uniform_mono (fun u => decides n s k (floor (u * 2 ^ n))) (fun u => snap scale grid value s u = k)); auto.
    + intros u Hu. now apply decided_is_true.
    + apply uniform_strings.
  - assert (uniform (fun u => decides n s k (floor (u * 2 ^ n)) \/ undecided n s (floor (u * 2 ^ n)))
      (sumf (fun b => ind (decides n s k b)) (strings n) / 2 ^ n + sumf (fun b => ind (undecided n s b)) (strings n) / 2 ^ n)) as HU.
    { generalize (uniform_strings (fun b => decides n s k b \/ undecided n s b) n).
      rewrite (sumf_eq (fun b => ind (decides n s k b \/ undecided n s b)) (fun b => ind (decides n s k b) + ind (undecided n s b))).
      - rewrite sumf_plus. unfold Rdiv. rewrite Rmult_plus_distr_r. auto.
      - intros b _. unfold ind. destruct (decide (decides n s k b)) as [d|d], (decide (undecided n s b)) as [u|u],
          (decide (decides n s k b \/ undecided n s b)) as [o|o]; try lra; exfalso; try tauto. exact (u k d). }
    apply (uniform_mono (fun u => snap scale grid value s u = k)
      (fun u => decides n s k (floor (u * 2 ^ n)) \/ undecided n s (floor (u * 2 ^ n)))); auto.
    intros u Hu Hk. destruct (Classical_Prop.classic (undecided n s (floor (u * 2 ^ n)))) as [h|h]; [now right|left].
    apply Classical_Pred_Type.not_all_ex_not in h. destruct h as [j Hj]. apply Classical_Prop.NNPP in Hj.
    rewrite (decided_is_true n s j u Hu Hj) in Hk. now subst j.
Qed.

Theorem decided_by_bits n k :
  fair n (fun s => decides n s k) <= snap_law scale grid value k <= fair n (fun s => decides n s k) + fair n (undecided n).
Proof.
  destruct (snap_has_snap_law scale grid scale_positive grid_positive value k) as (p & m & Hp & Hm & E).
  rewrite <- E. generalize (one_sign n true k p Hp) (one_sign n false k m Hm) (power_of_two n). intros H1 H2 H3.
  unfold fair. unfold Rdiv in *. lra.
Qed.

Theorem bits_have_the_law k e : 0 < e ->
  exists N, forall n, (N <= n)%nat -> Rabs (fair n (fun s => decides n s k) - snap_law scale grid value k) < e.
Proof.
  intro He. destruct (undecided_vanishes e He) as [N HN]. exists N. intros n Hn.
  generalize (decided_by_bits n k) (HN n Hn). intros H1 H2. unfold Rabs. destruct Rcase_abs; lra.
Qed.
End Bits.
