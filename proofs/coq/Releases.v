(** Whole releases, from datasets to outputs: a stable statistic, then noise; compositions; in the constructors' terms. *)
From Coq Require Import Reals ZArith List Lra Lia Permutation.
From SnapDP Require Import Law Rounding Laplace Snapping Sampler Mechanism Decide ExactMode Geometric Datasets Pipeline Steps.
Import ListNotations.
Open Scope R_scope.

(** A release is a law of mass 1 for every dataset, and epsilon is its loss at distance 1, in both directions. *)
Definition private_in {X Y} (domain : X -> Prop) (nx : near X) (eps : R) (M : X -> Y -> R) : Prop :=
  (forall v, domain v -> total (M v)) /\
  (forall (d : nat) v w, domain v -> domain w -> nx v w (INR d) ->
    dp (eps * INR d) (M v) (M w) /\ dp (eps * INR d) (M w) (M v)).

(** ** make_snapping behind any stable statistic *)
Theorem make_snapping_private {X} (domain : X -> Prop) (nx : near X) c (f : X -> R) o : valid o -> c <= d2r (sensitivity o) ->
  stable_in domain nx absolute c f -> private_in domain nx (epsilon o) (fun v => snapping_law o (f v)).
Proof.
  intros Ho Hc Hf. destruct (exact_mode o Ho) as (Ht & _ & Hp). split; [intros; apply Ht|].
  intros d v w Hv Hw Hd. generalize (Hf d v w Hv Hw Hd) (pos_INR d). unfold absolute. intros H H0.
  assert (Rabs (f v - f w) <= d2r (sensitivity o) * INR d) as HA.
  { apply Rle_trans with (1 := H). now apply Rmult_le_compat_r. }
  split; apply Hp; auto. now rewrite Rabs_minus_sym.
Qed.

Lemma l1_is_l1_distance x y : l1 x y = l1_distance x y.
Proof. revert y. induction x; intros [|b y]; simpl; try reflexivity; f_equal; auto. Qed.

Lemma l1_symmetric x y : l1 x y = l1 y x.
Proof. revert y. induction x as [|a x IH]; intros [|b y]; simpl; auto. now rewrite Rabs_minus_sym, IH. Qed.

Theorem make_snapping_vector_private {X} (domain : X -> Prop) (nx : near X) c (f : X -> list R) o : valid o -> c <= d2r (sensitivity o) ->
  stable_in domain nx manhattan c f -> private_in domain nx (epsilon o) (fun v => snapping_vector_law o (f v)).
Proof.
  intros Ho Hc Hf. destruct (exact_mode_vectors o Ho) as (Ht & Hp). split; [intros; apply Ht|].
  intros d v w Hv Hw Hd. destruct (Hf d v w Hv Hw Hd) as [HL H]. generalize (pos_INR d). intro H0.
  assert (l1 (f v) (f w) <= d2r (sensitivity o) * INR d) as HA.
  { rewrite l1_is_l1_distance. apply Rle_trans with (1 := H). now apply Rmult_le_compat_r. }
  split; apply Hp; auto. now rewrite l1_symmetric.
Qed.

(** ** make_geometric *)
Definition clamp_integer (lower upper : option Z) (x : Z) : Z :=
  let y := match upper with Some u => Z.min u x | None => x end in
  match lower with Some l => Z.max l y | None => y end.

Lemma clamp_integer_stable lower upper a b : (Z.abs (clamp_integer lower upper a - clamp_integer lower upper b) <= Z.abs (a - b))%Z.
Proof. destruct lower, upper; unfold clamp_integer; lia. Qed.

Definition geometric_law (o : options) (lower upper : option Z) : Z -> Z -> R :=
  geo_release (noise_scale o) (clamp_integer lower upper) (clamp_integer lower upper).
Definition geometric_vector_law o lower upper (ys : list Z) : list Z -> R := joint (map (geometric_law o lower upper) ys).

Lemma geometric_total o lower upper y : valid o -> total (geometric_law o lower upper y).
Proof. intro Ho. apply push_total, geo_difference_total. now apply noise_scale_positive. Qed.

Theorem geometric_dp o lower upper y y' : valid o ->
  dp (IZR (Z.abs (y - y')) / noise_scale o) (geometric_law o lower upper y) (geometric_law o lower upper y').
Proof.
  intro Ho. apply geo_release_dp; [now apply noise_scale_positive|apply clamp_integer_stable|lia].
Qed.

(** Integers at most so far apart. *)
Definition absolute_integer : near Z := fun x y d => IZR (Z.abs (x - y)) <= d.

Theorem make_geometric_private {X} (domain : X -> Prop) (nx : near X) c (f : X -> Z) o lower upper : valid o -> c <= d2r (sensitivity o) ->
  stable_in domain nx absolute_integer c f -> private_in domain nx (epsilon o) (fun v => geometric_law o lower upper (f v)).
Proof.
  intros Ho Hc Hf. split; [intros; now apply geometric_total|].
  intros d v w Hv Hw Hd. generalize (Hf d v w Hv Hw Hd) (pos_INR d). unfold absolute_integer. intros H H0.
  assert (IZR (Z.abs (f v - f w)) / noise_scale o <= epsilon o * INR d) as HL.
  { apply Rle_trans with (2 := loss_at_distance o Ho (INR d) H0).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; now apply noise_scale_positive|].
    apply Rle_trans with (1 := H). now apply Rmult_le_compat_r. }
  split.
  - apply dp_weaken with (2 := HL); [apply law_summable, geometric_total; auto|now apply geometric_dp].
  - replace (Z.abs (f v - f w)) with (Z.abs (f w - f v)) in HL by lia.
    apply dp_weaken with (2 := HL); [apply law_summable, geometric_total; auto|now apply geometric_dp].
Qed.

(** Vectors of integers in the L1 distance. *)
Fixpoint l1_integer (x y : list Z) : Z :=
  match x, y with a :: x, b :: y => Z.abs (a - b) + l1_integer x y | _, _ => 0 end.
Definition manhattan_integer : near (list Z) := fun x y d => length x = length y /\ IZR (l1_integer x y) <= d.

Lemma geometric_vector_dp o lower upper ys ys' : valid o -> length ys = length ys' ->
  dp (IZR (l1_integer ys ys') / noise_scale o) (geometric_vector_law o lower upper ys) (geometric_vector_law o lower upper ys').
Proof.
  intros Ho HL. pose proof (noise_scale_positive o Ho) as Hs.
  assert (IZR (l1_integer ys ys') / noise_scale o
          = losses (map (fun yy => IZR (Z.abs (fst yy - snd yy)) / noise_scale o) (combine ys ys'))) as ->.
  { revert ys' HL. induction ys as [|y ys IH]; intros [|y' ys'] HL; simpl in *; try discriminate.
    - field. lra.
    - rewrite <- IH by lia. rewrite plus_IZR. field. lra. }
  apply joint_dp.
  - intros p Hp. apply in_map_iff in Hp. destruct Hp as (y & <- & _). now apply geometric_total.
  - intros p Hp. apply in_map_iff in Hp. destruct Hp as (y & <- & _). now apply geometric_total.
  - revert ys' HL. induction ys as [|y ys IH]; intros [|y' ys'] HL; simpl in *; try discriminate; constructor; auto.
    simpl. now apply geometric_dp.
  - now rewrite !map_length.
Qed.

Theorem make_geometric_vector_private {X} (domain : X -> Prop) (nx : near X) c (f : X -> list Z) o lower upper : valid o ->
  c <= d2r (sensitivity o) -> stable_in domain nx manhattan_integer c f ->
  private_in domain nx (epsilon o) (fun v => geometric_vector_law o lower upper (f v)).
Proof.
  intros Ho Hc Hf.
  assert (forall ys, total (geometric_vector_law o lower upper ys)) as Ht.
  { intro ys. apply joint_total. intros p Hp. apply in_map_iff in Hp. destruct Hp as (y & <- & _). now apply geometric_total. }
  split; [intros; apply Ht|].
  intros d v w Hv Hw Hd. destruct (Hf d v w Hv Hw Hd) as [HL H]. generalize (pos_INR d). intro H0.
  assert (IZR (l1_integer (f v) (f w)) / noise_scale o <= epsilon o * INR d) as HE.
  { apply Rle_trans with (2 := loss_at_distance o Ho (INR d) H0).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; now apply noise_scale_positive|].
    apply Rle_trans with (1 := H). now apply Rmult_le_compat_r. }
  split.
  - apply dp_weaken with (2 := HE); [apply law_summable, Ht|now apply geometric_vector_dp].
  - assert (l1_integer (f v) (f w) = l1_integer (f w) (f v)) as E.
    { generalize (f v) (f w). clear. induction l as [|a x IH]; intros [|b y]; simpl; auto. rewrite IH. f_equal. lia. }
    rewrite E in HE. apply dp_weaken with (2 := HE); [apply law_summable, Ht|now apply geometric_vector_dp].
Qed.

(** ** Chains: a 1-stable transformation before changes nothing. *)
Theorem transformed_private {X X' Y} (domain : X -> Prop) (domain' : X' -> Prop) (nx : near X) (nx' : near X') eps (t : X -> X') (M : X' -> Y -> R) :
  (forall v, domain v -> domain' (t v)) -> stable_in domain nx nx' 1 t -> private_in domain' nx' eps M ->
  private_in domain nx eps (fun v => M (t v)).
Proof.
  intros HD Ht [HM HP]. split; [intros v Hv; apply HM; auto|].
  intros d v w Hv Hw Hd. apply HP; auto. generalize (Ht d v w Hv Hw Hd). now rewrite Rmult_1_l.
Qed.

(** A transformation of stability m, a whole number (a limit of m rows for each unit): m times the loss. *)
Theorem limited_private {X X' Y} (domain : X -> Prop) (domain' : X' -> Prop) (nx : near X) (nx' : near X') (m : nat) eps (t : X -> X') (M : X' -> Y -> R) :
  (forall v, domain v -> domain' (t v)) -> stable_in domain nx nx' (INR m) t -> private_in domain' nx' eps M ->
  private_in domain nx (eps * INR m) (fun v => M (t v)).
Proof.
  intros HD Ht [HM HP]. split; [intros v Hv; apply HM; auto|].
  intros d v w Hv Hw Hd. generalize (Ht d v w Hv Hw Hd). rewrite <- mult_INR. intro H.
  rewrite Rmult_assoc, <- mult_INR. now apply HP; auto.
Qed.

(** ** make_postprocessing *)
Theorem make_postprocessing_private {X Y Z} (domain : X -> Prop) (nx : near X) eps (M : X -> Y -> R) (f : Y -> Z) :
  private_in domain nx eps M -> private_in domain nx eps (fun v => push f (M v)).
Proof.
  intros [HM HP]. split; [intros v Hv; apply push_total; auto|].
  intros d v w Hv Hw Hd. destruct (HP d v w Hv Hw Hd) as [H1 H2].
  split; apply post_processing_dp; auto; apply law_summable; now apply HM.
Qed.

(** ** make_sequential: losses add up *)
Theorem make_sequential_private {X Y} (domain : X -> Prop) (nx : near X) (parts : list (R * (X -> Y -> R))) :
  (forall part, In part parts -> private_in domain nx (fst part) (snd part)) ->
  private_in domain nx (losses (map fst parts)) (fun v => joint (map (fun part => snd part v) parts)).
Proof.
  intro H.
  assert (forall v p, domain v -> In p (map (fun part => snd part v) parts) -> total p) as Ht.
  { intros v p Hv Hp. apply in_map_iff in Hp. destruct Hp as (part & <- & Hin). now apply (H part Hin). }
  assert (forall (d : nat) v w, domain v -> domain w ->
    (forall part, In part parts -> dp (fst part * INR d) (snd part v) (snd part w)) ->
    dp (losses (map fst parts) * INR d) (joint (map (fun part => snd part v) parts)) (joint (map (fun part => snd part w) parts))) as Hd.
  { intros d v w Hv Hw Hp.
    assert (losses (map fst parts) * INR d = losses (map (fun part => fst part * INR d) parts)) as ->.
    { clear. induction parts as [|part parts IH]; simpl; [ring|]. rewrite <- IH. ring. }
    apply joint_dp; [intros p Hi; now apply (Ht v p Hv)|intros p Hi; now apply (Ht w p Hw)| |now rewrite !map_length].
    - clear H Ht. induction parts as [|part parts IH]; simpl; constructor.
      + apply Hp. now left.
      + apply IH. intros q Hq. apply Hp. now right. }
  split.
  - intros v Hv. apply joint_total. intros p Hp. now apply (Ht v).
  - intros d v w Hv Hw Hn. split; apply Hd; auto; intros part Hin; now apply (proj2 (H part Hin) d v w Hv Hw Hn).
Qed.

(** ** make_on_table: each part sees a table through a view of its own (columns, the rows kept of a unit), in which
    neighboring tables are so many rows apart *)
Section Tables.
Variables X X' Y : Type.
Record table_part := Part { view : X -> X'; apart : nat; part_loss : R; part_law : X' -> Y -> R }.

Theorem make_on_table_private (domain : X -> Prop) (domain' : X' -> Prop) (nx : near X) (nx' : near X') (parts : list table_part) :
  (forall part, In part parts -> (forall v, domain v -> domain' (view part v)) /\
    stable_in domain nx nx' (INR (apart part)) (view part) /\ private_in domain' nx' (part_loss part) (part_law part)) ->
  private_in domain nx (losses (map (fun part => part_loss part * INR (apart part)) parts))
    (fun v => joint (map (fun part => part_law part (view part v)) parts)).
Proof.
  intro H. set (seen := map (fun part => (part_loss part * INR (apart part), fun v => part_law part (view part v))) parts).
  assert (private_in domain nx (losses (map fst seen)) (fun v => joint (map (fun part => snd part v) seen))) as HS.
  { apply make_sequential_private. intros each Hin. apply in_map_iff in Hin. destruct Hin as (part & <- & Hin).
    destruct (H part Hin) as (Hd & Hs & Hp). exact (limited_private domain domain' nx nx' (apart part) (part_loss part) (view part) (part_law part) Hd Hs Hp). }
  unfold seen in HS. rewrite map_map in HS. simpl in HS. destruct HS as [HT HP]. split.
  - intros v Hv. generalize (HT v Hv). now rewrite map_map.
  - intros d v w Hv Hw Hd. generalize (HP d v w Hv Hw Hd). now rewrite !map_map.
Qed.
End Tables.

(** The second release may be chosen after the first output is seen. *)
Theorem adaptive_private {X Y Z} (domain : X -> Prop) (nx : near X) e1 e2 (M : X -> Y -> R) (N : Y -> X -> Z -> R) :
  private_in domain nx e1 M -> (forall y, private_in domain nx e2 (N y)) ->
  private_in domain nx (e1 + e2) (fun v => seq (M v) (fun y => N y v)).
Proof.
  intros [HM HP] HN. split.
  - intros v Hv. apply seq_total; [now apply HM|]. intro y. now apply (proj1 (HN y)).
  - intros d v w Hv Hw Hd. rewrite Rmult_plus_distr_r. destruct (HP d v w Hv Hw Hd) as [H1 H2].
    assert (forall u y, domain u -> law (N y u)) as HL by (intros u y Hu; apply (proj1 (HN y)); auto).
    assert (forall u, domain u -> law (M u)) as HLM by (intros u Hu; apply HM; auto).
    split; apply sequential; auto; intro y; now apply (proj2 (HN y) d v w Hv Hw Hd).
Qed.

(** ** make_parallel: disjoint parts cost as much as the dearest of them *)
Theorem make_parallel_private {A Y} (part : A -> nat) (k : nat) eps (M : nat -> list A -> Y -> R) : 0 <= eps ->
  (forall i, private_in everywhere symmetric eps (M i)) ->
  private_in everywhere symmetric eps (fun v => joint (map (fun i => M i (rows_of part i v)) (List.seq 0 k))).
Proof.
  intros He HM.
  assert (forall i v w, dp (eps * dsym v w) (M i v) (M i w)) as Hdp.
  { intros i v w. destruct (symmetric_shape v w) as (c & more & less & _ & _ & H3). rewrite <- H3.
    apply (proj2 (HM i) (length more + length less)%nat v w I I). unfold symmetric. lra. }
  assert (forall i v, law (M i v)) as Hlaw by (intros; now apply (HM i)).
  split.
  - intros v _. apply joint_total. intros p Hp. apply in_map_iff in Hp. destruct Hp as (i & <- & _). now apply (HM i).
  - intros d v w _ _ Hd. unfold symmetric in Hd.
    split; apply (parallel_private part k M eps); auto. now rewrite dsym_sym.
Qed.
