(** Geometric noise on the integers: its law and its privacy. *)
From Coq Require Import Reals ZArith List Lra Lia Permutation.
From Coquelicot Require Import Coquelicot.
From SnapDP Require Import Law Rounding Laplace Snapping Sampler.
Import ListNotations.
Open Scope R_scope.

Section Geometric.
Variable lam : R.
Hypothesis lam_pos : 0 < lam.
Definition q : R := exp (- 1 / lam).

Lemma q_range : 0 < q < 1.
Proof.
  unfold q. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing.
  unfold Rdiv. rewrite <- (Rmult_0_l (/ lam)). apply Rmult_lt_compat_r; [now apply Rinv_0_lt_compat|lra].
Qed.

Lemma q_pow n : q ^ n = exp (- INR n / lam).
Proof.
  unfold q. induction n as [|n IH].
  - simpl. replace (- 0 / lam) with 0 by (field; lra). now rewrite exp_0.
  - rewrite S_INR. simpl pow. rewrite IH, <- exp_plus. f_equal. field. lra.
Qed.

(** One geometric number, and where it comes from: floor(lam |ln U|). *)
Definition geo (j : nat) : R := (1 - q) * q ^ j.

Theorem geo_sampled j : uniform (fun u => floor (lam * Rabs (ln u)) = Z.of_nat j) (geo j).
Proof.
  generalize (noise_minus lam lam_pos (INR j) (INR (S j))). rewrite S_INR. intro H.
  specialize (H ltac:(lra)).
  assert (forall x, 0 <= x -> cut lam (- x) = exp (- x / lam)) as Hc.
  { intros x Hx. unfold cut. apply Rmin_right. apply exp_le_1. apply div_neg; auto. lra. }
  generalize (pos_INR j). intro Hj. rewrite !Hc in H by lra.
  replace (exp (- INR j / lam) - exp (- (INR j + 1) / lam)) with (geo j) in H.
  - eapply is_RInt_ext; [|exact H]. intros u Hu. rewrite Rmin_left, Rmax_right in Hu by lra.
    unfold ind.
    assert (Rabs (ln u) = - ln u) as E.
    { apply Rabs_left. rewrite <- ln_1. apply ln_increasing; lra. }
    rewrite E. simpl noise.
    assert (floor (lam * - ln u) = Z.of_nat j <-> INR j <= - (lam * ln u) < INR j + 1) as Hf.
    { rewrite floor_spec, <- INR_IZR_INZ. replace (lam * - ln u) with (- (lam * ln u)) by ring. reflexivity. }
    repeat destruct decide; tauto.
  - unfold geo. rewrite <- S_INR, <- !q_pow. simpl. ring.
Qed.

Lemma geo_sum n : sumf geo (List.seq 0 n) = 1 - q ^ n.
Proof.
  induction n as [|n IH]; [simpl; lra|]. rewrite seq_S, sumf_app, IH. simpl. unfold geo. ring.
Qed.

Lemma geo_nonneg j : 0 <= geo j.
Proof. unfold geo. generalize q_range. intro. apply Rmult_le_pos; [lra|apply pow_le; lra]. Qed.

Lemma nat_covers (l : list nat) : exists N, forall n, In n l -> (n < N)%nat.
Proof.
  induction l as [|a l [N IH]]; [exists 0%nat; simpl; tauto|].
  exists (S (a + N)). intros n [<-|H]; [lia|]. specialize (IH n H). lia.
Qed.

Lemma geo_law : law geo.
Proof.
  split; [apply geo_nonneg|]. intros l Hl. destruct (nat_covers l) as [N HN].
  apply Rle_trans with (sumf geo (List.seq 0 N)).
  - apply sumf_incl; auto; [apply geo_nonneg|]. intros n Hn. apply in_seq. specialize (HN n Hn). lia.
  - rewrite geo_sum. generalize q_range. intro. generalize (pow_le q N). lra.
Qed.

Lemma q_small e : 0 < e -> exists N, forall n, (N <= n)%nat -> q ^ n < e.
Proof.
  intro He. generalize q_range. intro Hq.
  destruct (pow_lt_1_zero q) with (y := e) as [N HN]; auto; [rewrite Rabs_right; lra|].
  exists N. intros n Hn. specialize (HN n Hn). rewrite Rabs_right in HN; auto.
  apply Rle_ge, pow_le. lra.
Qed.

Lemma geo_total : total geo.
Proof.
  split; [apply geo_law|]. pose proof (law_summable _ geo_law) as HS.
  apply Rle_antisym; [apply Pr_le_1, geo_law|]. apply Rnot_lt_le. intro H.
  destruct (q_small (1 - Pr geo (fun _ => True))) as [N HN]; [lra|].
  specialize (HN N (le_n N)).
  assert (sumf geo (List.seq 0 N) <= Pr geo (fun _ => True)) as HU by (apply Pr_ub; auto; apply seq_NoDup).
  rewrite geo_sum in HU. lra.
Qed.

(** The difference of two. *)
Definition geo_difference : Z -> R :=
  push (fun gg => Z.of_nat (fst gg) - Z.of_nat (snd gg))%Z (seq geo (fun _ => geo)).

Lemma pair_sum a b n :
  sumf (seq geo (fun _ => geo)) (map (fun j => (j + a, j + b)%nat) (List.seq 0 n))
  = (1 - q) / (1 + q) * q ^ (a + b) * (1 - q ^ (2 * n)).
Proof.
  generalize q_range. intro Hq. rewrite sumf_map. unfold seq. simpl fst. simpl snd.
  induction n as [|n IH]; [simpl; lra|].
  rewrite seq_S, sumf_app, IH. simpl List.seq. simpl sumf. unfold geo.
  replace (2 * S n)%nat with (2 + 2 * n)%nat by lia.
  replace (q ^ (n + a)) with (q ^ n * q ^ a) by (now rewrite pow_add).
  replace (q ^ (n + b)) with (q ^ n * q ^ b) by (now rewrite pow_add).
  rewrite !pow_add. replace (q ^ (2 * n)) with (q ^ n * q ^ n) by (rewrite <- pow_add; f_equal; lia).
  field. lra.
Qed.

Theorem geo_difference_law k : geo_difference k = (1 - q) / (1 + q) * q ^ Z.abs_nat k.
Proof.
  generalize q_range. intro Hq.
  assert (law (seq geo (fun _ : nat => geo))) as HL by (apply seq_law; intros; apply geo_law).
  pose proof (law_summable _ HL) as HS.
  set (a := Z.to_nat k). set (b := Z.to_nat (- k)).
  assert (Z.abs_nat k = a + b)%nat as -> by (unfold a, b; lia).
  set (c := (1 - q) / (1 + q) * q ^ (a + b)).
  assert (0 < c) as Hc.
  { unfold c. apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|apply pow_lt; lra]. }
  unfold geo_difference, push. apply Rle_antisym.
  - apply Pr_lub; auto. intros l Hl Hk.
    destruct (nat_covers (map fst l ++ map snd l)) as [N HN].
    apply Rle_trans with (sumf (seq geo (fun _ => geo)) (map (fun j => (j + a, j + b)%nat) (List.seq 0 N))).
    + apply sumf_incl; auto; [apply HL|]. intros [x y] Hxy. specialize (Hk _ Hxy). simpl in Hk.
      apply in_map_iff. exists (Nat.min x y). split.
      * f_equal; unfold a, b; lia.
      * apply in_seq. assert (x < N)%nat; [|lia]. apply HN. apply in_or_app. left.
        apply in_map_iff. exists (x, y). auto.
    + rewrite pair_sum. fold c. rewrite <- (Rmult_1_r c) at 2. apply Rmult_le_compat_l; [lra|].
      generalize (pow_le q (2 * N)). lra.
  - apply Rnot_lt_le. intro H. set (m := Pr _ _) in H.
    destruct (q_small ((c - m) / c)) as [N HN]; [apply Rdiv_lt_0_compat; lra|].
    specialize (HN (2 * N)%nat ltac:(lia)).
    assert (sumf (seq geo (fun _ => geo)) (map (fun j => (j + a, j + b)%nat) (List.seq 0 N)) <= m) as HU.
    { apply Pr_ub; auto.
      - apply FinFun.Injective_map_NoDup; [|apply seq_NoDup]. intros i j E. injection E. lia.
      - intros xy Hxy. apply in_map_iff in Hxy. destruct Hxy as (j & <- & _). simpl. unfold a, b. lia. }
    rewrite pair_sum in HU. fold c in HU.
    apply (Rmult_lt_compat_l c) in HN; auto. replace (c * ((c - m) / c)) with (c - m) in HN by (field; lra). lra.
Qed.

Lemma geo_difference_total : total geo_difference.
Proof. apply push_total, seq_total; intros; apply geo_total. Qed.

(** Output: the value plus that noise. *)
Definition geo_release (inner : Z -> Z) (outer : Z -> Z) (y : Z) : Z -> R :=
  push (fun k => outer (inner y + k)%Z) geo_difference.

Definition geo_law_at (x m : Z) : R := (1 - q) / (1 + q) * q ^ Z.abs_nat (m - x).

Lemma geo_shift x m : push (fun k => x + k)%Z geo_difference m = geo_law_at x m.
Proof.
  pose proof (law_summable _ (proj1 geo_difference_total)) as HS.
  unfold push, geo_law_at. rewrite <- geo_difference_law, <- (Pr_single _ (m - x)%Z); auto.
  apply Pr_ext; auto. intro a. lia.
Qed.

Lemma q_pow_ratio a b n : (a <= b + n)%nat -> q ^ b <= exp (INR n / lam) * q ^ a.
Proof.
  intro H. rewrite !q_pow, <- exp_plus.
  assert (- INR b / lam <= INR n / lam + - INR a / lam) as [h|h].
  { unfold Rdiv. rewrite <- Rmult_plus_distr_r. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    apply le_INR in H. rewrite plus_INR in H. lra. }
  - left. now apply exp_increasing.
  - rewrite h. lra.
Qed.

Theorem geo_dp x x' D : (Z.abs (x - x') <= D)%Z ->
  dp (IZR D / lam) (push (fun k => x + k)%Z geo_difference) (push (fun k => x' + k)%Z geo_difference).
Proof.
  intro H. pose proof (law_summable _ (proj1 geo_difference_total)) as HS.
  apply dp_pointwise; [now apply push_summable|now apply push_summable|].
  intro m. rewrite !geo_shift. unfold geo_law_at. generalize q_range. intro Hq.
  replace (IZR D) with (INR (Z.to_nat D)) by (rewrite INR_IZR_INZ; f_equal; lia).
  replace (exp (INR (Z.to_nat D) / lam) * ((1 - q) / (1 + q) * q ^ Z.abs_nat (m - x')))
    with ((1 - q) / (1 + q) * (exp (INR (Z.to_nat D) / lam) * q ^ Z.abs_nat (m - x'))) by ring.
  apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra|]. apply q_pow_ratio. lia.
Qed.

(** Attained: no smaller loss holds. *)
Theorem geo_attained x x' : (x <= x')%Z ->
  geo_law_at x x = exp (IZR (x' - x) / lam) * geo_law_at x' x.
Proof.
  intro H. unfold geo_law_at. rewrite !q_pow.
  replace (INR (Z.abs_nat (x - x))) with 0 by (replace (x - x)%Z with 0%Z by lia; reflexivity).
  replace (INR (Z.abs_nat (x - x'))) with (IZR (x' - x)) by (rewrite INR_IZR_INZ; f_equal; lia).
  replace (exp (IZR (x' - x) / lam) * ((1 - q) / (1 + q) * exp (- IZR (x' - x) / lam)))
    with ((1 - q) / (1 + q) * (exp (IZR (x' - x) / lam) * exp (- IZR (x' - x) / lam))) by ring.
  rewrite <- exp_plus. do 2 f_equal. field. lra.
Qed.

(** An upper bound, as an output, loses as much: it collects a half line of noise. *)
Lemma tail_sum x n : (0 <= x)%Z ->
  sumf geo_difference (zrange x n) = q ^ Z.abs_nat x / (1 + q) * (1 - q ^ n).
Proof.
  generalize q_range. intro Hq. revert x. induction n as [|n IH]; intros x Hx; [simpl; lra|].
  simpl zrange. simpl sumf. rewrite IH, geo_difference_law by lia.
  replace (Z.abs_nat (x + 1)) with (S (Z.abs_nat x)) by lia. simpl pow. field. lra.
Qed.

Theorem geo_tail x : (0 <= x)%Z -> Pr geo_difference (fun k => x <= k)%Z = q ^ Z.abs_nat x / (1 + q).
Proof.
  intro Hx. generalize q_range. intro Hq. pose proof (law_summable _ (proj1 geo_difference_total)) as HS.
  set (c := q ^ Z.abs_nat x / (1 + q)).
  assert (0 < c) as Hc by (unfold c; apply Rdiv_lt_0_compat; [apply pow_lt; lra|lra]).
  apply Rle_antisym.
  - apply Pr_lub; auto. intros l Hl Hin. destruct (zrange_covers l) as [N HN].
    apply Rle_trans with (sumf geo_difference (zrange x (2 * (N + Z.abs_nat x)))).
    + apply sumf_incl; auto; [apply HS|]. intros k Hk. apply in_zrange.
      specialize (Hin k Hk). specialize (HN N k (le_n N) Hk). simpl in Hin. lia.
    + rewrite tail_sum by auto. fold c. rewrite <- (Rmult_1_r c) at 2. apply Rmult_le_compat_l; [lra|].
      generalize (pow_le q (2 * (N + Z.abs_nat x))). lra.
  - apply Rnot_lt_le. intro H. set (m := Pr _ _) in H.
    destruct (q_small ((c - m) / c)) as [N HN]; [apply Rdiv_lt_0_compat; lra|]. specialize (HN N (le_n N)).
    assert (sumf geo_difference (zrange x N) <= m) as HU.
    { apply Pr_ub; auto; [apply zrange_NoDup|]. intros k Hk. apply in_zrange in Hk. lia. }
    rewrite tail_sum in HU by auto. fold c in HU.
    apply (Rmult_lt_compat_l c) in HN; auto. replace (c * ((c - m) / c)) with (c - m) in HN by (field; lra). lra.
Qed.

Theorem geo_bound_attained upper value moved : (value <= moved <= upper)%Z ->
  geo_release (fun y => y) (Z.min upper) moved upper
  = exp (IZR (moved - value) / lam) * geo_release (fun y => y) (Z.min upper) value upper.
Proof.
  intro H. pose proof (law_summable _ (proj1 geo_difference_total)) as HS.
  assert (forall y, (y <= upper)%Z -> geo_release (fun y => y) (Z.min upper) y upper = q ^ Z.abs_nat (upper - y) / (1 + q)) as E.
  { intros y Hy. rewrite <- geo_tail by lia. unfold geo_release, push. apply Pr_ext; auto. intro k. lia. }
  rewrite !E, !q_pow by lia. unfold Rdiv at 1 4. rewrite <- Rmult_assoc, <- exp_plus. f_equal. f_equal.
  rewrite !INR_IZR_INZ. replace (Z.of_nat (Z.abs_nat (upper - moved))) with (upper - value - (moved - value))%Z by lia.
  replace (Z.of_nat (Z.abs_nat (upper - value))) with (upper - value)%Z by lia. rewrite (minus_IZR (upper - value)). field. lra.
Qed.

Theorem geo_release_dp inner outer y y' D :
  (forall a b, (Z.abs (inner a - inner b) <= Z.abs (a - b))%Z) -> (Z.abs (y - y') <= D)%Z ->
  dp (IZR D / lam) (geo_release inner outer y) (geo_release inner outer y').
Proof.
  intros Hi H. pose proof (law_summable _ (proj1 geo_difference_total)) as HS.
  intro S. unfold geo_release.
  assert (forall x, Pr (push (fun k => outer (x + k)%Z) geo_difference) S
            = Pr (push (fun k => x + k)%Z geo_difference) (fun m => S (outer m))) as E.
  { intro x. rewrite !Pr_push; auto. }
  rewrite !E. apply geo_dp. specialize (Hi y y'). lia.
Qed.
End Geometric.
