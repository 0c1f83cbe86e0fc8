(** Cells as they are stored and as the library compares them; what is done row by row, and selections, on stored cells. *)
From Coq Require Import Reals ZArith List Lra Lia Bool.
From SnapDP Require Import Law Rounding Datasets Pipeline Steps.
Import ListNotations.
Open Scope R_scope.

(** A stored cell: a null, a NaN with its payload, an infinity, a number with the sign that a zero carries, a text. *)
Inductive cell :=
  | Null
  | Nan (payload : Z)
  | Infinity (negative : bool)
  | Number (x : R) (negative_zero : bool)
  | Text (characters : list nat).

(** As compared: +0 and -0 are one value, all NaN are one value, null is a value of its own. *)
Inductive value :=
  | VNull
  | VNan
  | VInfinity (negative : bool)
  | VNumber (x : R)
  | VText (characters : list nat).

Definition compared (c : cell) : value :=
  match c with
  | Null => VNull
  | Nan _ => VNan
  | Infinity negative => VInfinity negative
  | Number x _ => VNumber x
  | Text t => VText t
  end.

Definition stored (v : value) : cell :=
  match v with
  | VNull => Null
  | VNan => Nan 0
  | VInfinity negative => Infinity negative
  | VNumber x => Number x false
  | VText t => Text t
  end.

Lemma compared_stored v : compared (stored v) = v.
Proof. destruct v; reflexivity. Qed.

Notation row := (list cell).
Definition compared_row : row -> list value := map compared.

Lemma compared_row_stored r : compared_row (map stored r) = r.
Proof. unfold compared_row. rewrite map_map, (map_ext _ (fun v => v)), map_id; auto. apply compared_stored. Qed.

(** Datasets of stored rows are as far apart as their rows as compared. *)
Definition as_compared (n : near (list (list value))) : near (list row) :=
  fun v w d => n (map compared_row v) (map compared_row w) d.

(** A function of the row as compared. *)
Definition respects (f : row -> row) : Prop :=
  forall a b, compared_row a = compared_row b -> compared_row (f a) = compared_row (f b).
Definition respects_choice (p : row -> bool) : Prop := forall a b, compared_row a = compared_row b -> p a = p b.

Definition stable_row_by_row (f : row -> row) : Prop :=
  stable_in everywhere (as_compared symmetric) (as_compared symmetric) 1 (map f) /\
  stable_in everywhere (as_compared change_one) (as_compared change_one) 1 (map f) /\
  stable_in everywhere (as_compared hamming_near) (as_compared hamming_near) 1 (map f).

(** Lemma 1 for stored rows. *)
Theorem row_function_stable f : respects f -> stable_row_by_row f.
Proof.
  intro Hf. set (F := fun r => compared_row (f (map stored r))).
  assert (forall v, map compared_row (map f v) = map F (map compared_row v)) as E.
  { intro v. rewrite !map_map. apply map_ext. intro r. unfold F. apply Hf. now rewrite compared_row_stored. }
  split; [|split]; intros d v w _ _ H; unfold as_compared in *; rewrite !E, Rmult_1_l.
  - unfold symmetric in *. apply Rle_trans with (2 := H). apply row_by_row.
  - now apply row_by_row_change_one.
  - destruct H as [HL H]. split; [now rewrite !map_length in *|].
    apply Rle_trans with (2 := H). apply row_by_row_hamming.
Qed.

Lemma hist_filter {A} (p : A -> bool) u z : hist (filter p u) z = (if p z then 1 else 0) * hist u z.
Proof.
  unfold hist. rewrite sumf_filter, <- sumf_scal. apply sumf_eq. intros x _.
  destruct (decide (x = z)) as [->|h]; [reflexivity|]. rewrite (ind_false (x = z)) by auto. ring.
Qed.

Theorem filter_stable {A} (p : A -> bool) v w : dsym (filter p v) (filter p w) <= dsym v w.
Proof.
  rewrite (dsym_over (filter p v) (filter p w) (dedup (v ++ w))).
  - apply sumf_le. intros z _. rewrite !hist_filter, <- Rmult_minus_distr_l, Rabs_mult.
    generalize (Rabs_pos (hist v z - hist w z)). destruct (p z); rewrite ?Rabs_R1, ?Rabs_R0; lra.
  - apply dedup_NoDup.
  - intros z Hz. apply dedup_In. rewrite in_app_iff, !filter_In in Hz. apply in_or_app. tauto.
Qed.

Theorem selection_stable p : respects_choice p ->
  stable_in everywhere (as_compared symmetric) (as_compared symmetric) 1 (filter p).
Proof.
  intros Hp d v w _ _ H. unfold as_compared, symmetric in *. set (P := fun r => p (map stored r)).
  assert (forall v, map compared_row (filter p v) = filter P (map compared_row v)) as E.
  { intro whole. induction whole as [|r u IH]; simpl; auto.
    assert (P (compared_row r) = p r) as -> by (apply Hp; apply compared_row_stored).
    destruct (p r); simpl; now rewrite IH. }
  rewrite !E, Rmult_1_l. apply Rle_trans with (2 := H). apply filter_stable.
Qed.

(** ** Cells of one column *)
(** A function of the cell in column i. *)
Fixpoint at_column (i : nat) (f : cell -> cell) (r : row) : row :=
  match r, i with [], _ => [] | x :: r, O => f x :: r | x :: r, S i => x :: at_column i f r end.

Lemma at_column_respects i f :
  (forall a b, compared a = compared b -> compared (f a) = compared (f b)) -> respects (at_column i f).
Proof.
  intros Hf. induction i as [|i IH]; intros [|x a] [|y b] H; simpl in *; try discriminate; auto;
    unfold compared_row in *; simpl in *; injection H as H1 H2; f_equal; auto.
Qed.

(** make_impute *)
Definition impute (constant : R) (c : cell) : cell :=
  match c with Null | Nan _ => Number constant false | _ => c end.

Theorem make_impute_stable i constant : stable_row_by_row (at_column i (impute constant)).
Proof.
  apply row_function_stable, at_column_respects. intros a b H.
  destruct a, b; simpl in *; try discriminate; auto.
Qed.

Theorem make_impute_domain constant c : impute constant c <> Null /\ forall payload, impute constant c <> Nan payload.
Proof. destruct c; split; try intro; discriminate. Qed.

(** make_clamp: zeros come out as +0. *)
Definition clamp_cell (low high : R) (c : cell) : cell :=
  match c with
  | Number x _ => Number (clamp low high x) false
  | Infinity negative => Number (if negative then low else high) false
  | _ => c
  end.

Theorem make_clamp_stable i low high : stable_row_by_row (at_column i (clamp_cell low high)).
Proof.
  apply row_function_stable, at_column_respects. intros a b H.
  destruct a, b; simpl in *; try discriminate; auto; injection H as ->; reflexivity.
Qed.

(** make_cast to an integer: what is no 64-bit integer becomes null, or the nearest one, ties upward. *)
Definition is_whole (x : R) : Prop := IZR (floor x) = x.
Definition cast_to_integer (nearest : bool) (c : cell) : cell :=
  let low := - 2 ^ 63 in let high := 2 ^ 63 - 1 in
  match c with
  | Null | Nan _ => Null
  | Infinity negative => if nearest then Number (if negative then low else high) false else Null
  | Number x _ =>
      if decide (is_whole x /\ low <= x <= high) then Number x false
      else if nearest then Number (clamp low high (IZR (floor (x + / 2)))) false else Null
  | Text t => Text t
  end.
(** ... and to a real: any rounding of the integer, whatever it is. *)
Definition cast_to_real (round_to_double : R -> R) (c : cell) : cell :=
  match c with Number x _ => Number (round_to_double x) false | _ => c end.

Theorem make_cast_stable i nearest round_to_double :
  stable_row_by_row (at_column i (cast_to_integer nearest)) /\ stable_row_by_row (at_column i (cast_to_real round_to_double)).
Proof.
  split; apply row_function_stable, at_column_respects; intros a b H;
    destruct a, b; simpl in *; try discriminate; auto; injection H as ->; reflexivity.
Qed.

(** make_grid_rows: the middle of a step; the number of steps may be rounded in any way before its floor. *)
Definition step_middle (spacing : R) (steps : Z) : R := (IZR steps + / 2) * spacing.
Definition grid_cell (rounded : R -> R) (spacing : R) (c : cell) : cell :=
  match c with Number x _ => Number (step_middle spacing (floor (rounded (x / spacing)))) false | _ => c end.

Theorem make_grid_rows_stable i rounded spacing : stable_row_by_row (at_column i (grid_cell rounded spacing)).
Proof.
  apply row_function_stable, at_column_respects. intros a b H.
  destruct a, b; simpl in *; try discriminate; auto; injection H as ->; reflexivity.
Qed.

Theorem make_grid_rows_near spacing x : 0 < spacing -> Rabs (step_middle spacing (floor (x / spacing)) - x) <= spacing / 2.
Proof.
  intro H. unfold step_middle. generalize (floor_bounds (x / spacing)). set (k := IZR (floor (x / spacing))).
  assert (x = x / spacing * spacing) as E by (field; lra). set (q := x / spacing) in *. intro B. rewrite E.
  replace ((k + / 2) * spacing - q * spacing) with ((k + / 2 - q) * spacing) by ring.
  rewrite Rabs_mult, (Rabs_right spacing) by lra.
  assert (Rabs (k + / 2 - q) <= / 2) by (apply Rabs_le; lra). nra.
Qed.

(** Sums of such numbers are sums of integers. *)
Theorem make_grid_rows_sum spacing steps :
  fold_right Rplus 0 (map (step_middle spacing) steps) =
  (IZR (fold_right Z.add 0%Z steps) + IZR (Z.of_nat (length steps)) / 2) * spacing.
Proof.
  induction steps as [|k steps IH]; simpl fold_right; simpl map; [simpl; lra|].
  simpl fold_right in IH. rewrite IH. unfold step_middle. rewrite plus_IZR.
  replace (Z.of_nat (length (k :: steps))) with (1 + Z.of_nat (length steps))%Z by (simpl length; lia).
  rewrite plus_IZR. lra.
Qed.

(** make_parse: any rule that looks at the text alone. *)
Definition parse (rule : list nat -> cell) (c : cell) : cell := match c with Text t => rule t | _ => c end.

Theorem make_parse_stable i rule : stable_row_by_row (at_column i (parse rule)).
Proof.
  apply row_function_stable, at_column_respects. intros a b H.
  destruct a, b; simpl in *; try discriminate; auto; injection H as ->; reflexivity.
Qed.

(** make_bin: the bin is a function of the cell as compared. *)
Definition bin (index_of : value -> option Z) (c : cell) : cell :=
  match index_of (compared c) with Some i => Number (IZR i) false | None => Null end.

Theorem make_bin_stable i index_of : stable_row_by_row (at_column i (bin index_of)).
Proof. apply row_function_stable, at_column_respects. intros a b H. unfold bin. now rewrite H. Qed.

(** make_map, given the author's claim that the function does not tell +0 from -0 nor one NaN from another. *)
Definition map_cell (f : cell -> cell) (low high : option R) (c : cell) : cell :=
  match c with
  | Null => Null
  | _ => match f c with
         | Number y _ => if decide (clamp_between low high y = y) then Number y false else Null
         | _ => Null
         end
  end.

Theorem make_map_stable i f low high : (forall a b, compared a = compared b -> compared (f a) = compared (f b)) ->
  stable_row_by_row (at_column i (map_cell f low high)).
Proof.
  intro Hf. apply row_function_stable, at_column_respects. intros a b H.
  assert (compared (f a) = compared (f b)) as E by auto.
  unfold map_cell. destruct a, b; simpl in H; try discriminate; auto;
    destruct (f _), (f _); simpl in E; try discriminate; auto; injection E as ->; destruct decide; reflexivity.
Qed.

(** make_project: the first cells. *)
Theorem make_project_stable count : stable_row_by_row (firstn count).
Proof.
  apply row_function_stable. intros a b H. unfold compared_row in *. now rewrite <- !firstn_map, H.
Qed.

(** make_drop: rows without null and NaN. *)
Definition present (c : cell) : bool := match c with Null | Nan _ => false | _ => true end.

Lemma forallb_respects (p : cell -> bool) : (forall a b, compared a = compared b -> p a = p b) -> respects_choice (forallb p).
Proof.
  intros Hp a. induction a as [|x a IH]; intros [|y b] H; simpl in *; try discriminate; auto.
  unfold compared_row in H. simpl in H. injection H as H1 H2. rewrite (Hp x y H1). f_equal. now apply IH.
Qed.

Theorem make_drop_stable : stable_in everywhere (as_compared symmetric) (as_compared symmetric) 1 (filter (forallb present)).
Proof.
  apply selection_stable, forallb_respects. intros a b H. destruct a, b; simpl in *; try discriminate; auto.
Qed.

(** make_select: comparisons of cells with constants, joined by and, or, not; missing cells compare false. *)
Inductive comparison := Less | AtMost | Same | Different | AtLeast | Greater.
Definition compare_numbers (c : comparison) (x y : R) : Prop :=
  match c with Less => x < y | AtMost => x <= y | Same => x = y | Different => x <> y | AtLeast => x >= y | Greater => x > y end.
Definition compare_infinity (c : comparison) (negative : bool) : bool :=
  match c with
  | Less | AtMost => negative | AtLeast | Greater => negb negative | Same => false | Different => true
  end.
Definition compare_texts (c : comparison) (s t : list nat) : bool :=
  match c with Same => if decide (s = t) then true else false | Different => if decide (s = t) then false else true | _ => false end.
Inductive constant := OfNumber (x : R) | OfText (t : list nat).
Definition holds (c : comparison) (k : constant) (x : cell) : bool :=
  match x, k with
  | Number x _, OfNumber y => if decide (compare_numbers c x y) then true else false
  | Infinity negative, OfNumber _ => compare_infinity c negative
  | Text s, OfText t => compare_texts c s t
  | _, _ => false
  end.
Inductive predicate :=
  | Compare (column : nat) (c : comparison) (k : constant)
  | And (p q : predicate) | Or (p q : predicate) | Not (p : predicate).
Fixpoint selects (p : predicate) (r : row) : bool :=
  match p with
  | Compare i c k => holds c k (nth i r Null)
  | And p q => selects p r && selects q r
  | Or p q => selects p r || selects q r
  | Not p => negb (selects p r)
  end.

Lemma nth_compared i r : compared (nth i r Null) = nth i (compared_row r) VNull.
Proof. unfold compared_row. change VNull with (compared Null). symmetry. apply map_nth. Qed.

Lemma selects_respects p : respects_choice (selects p).
Proof.
  induction p as [i c k|p IHp q IHq|p IHp q IHq|p IHp]; intros a b H; simpl.
  - assert (compared (nth i a Null) = compared (nth i b Null)) as E by now rewrite !nth_compared, H.
    destruct (nth i a Null), (nth i b Null); simpl in E; try discriminate; auto; injection E as ->; reflexivity.
  - now rewrite (IHp a b H), (IHq a b H).
  - now rewrite (IHp a b H), (IHq a b H).
  - now rewrite (IHp a b H).
Qed.

Theorem make_select_stable p : stable_in everywhere (as_compared symmetric) (as_compared symmetric) 1 (filter (selects p)).
Proof. apply selection_stable, selects_respects. Qed.
