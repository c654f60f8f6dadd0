// ai.onnx.ml: ensembles of decision trees. All trees are walked at once, level by level: a gather for each property of
// the nodes that the rows have reached, a comparison, and a choice of the next nodes. Leaves lead to themselves.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/ml_scores.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;
using reference::Tensor;

// Levels of the deepest tree, each of which becomes operations of its own.
constexpr int64_t kDeepestTree = 512;
// Nodes times targets: the weights of the leaves are a table.
constexpr int64_t kMostWeights = 64 << 20;

enum Mode : int64_t { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual, kMember, kLeaf };
constexpr const char* kCompareNames[] = {"less_equal", "less", "greater_equal", "greater", "equal", "not_equal"};

struct TreeNode {
  int64_t feature = 0;
  double split = 0;
  int64_t mode = kLeaf;
  int64_t yes = 0, no = 0;
  bool missing_is_yes = false;
  std::vector<std::pair<int64_t, double>> weights;  // of a leaf: target and value
};

struct Ensemble {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  int64_t targets = 1;
};

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(what); }

// Levels below each node, by depth-first search. Refuses cycles.
class Heights {
 public:
  explicit Heights(const Ensemble& ensemble) : nodes_(ensemble.nodes), heights_(nodes_.size(), kUnknown) {}

  absl::StatusOr<int64_t> Of(int64_t node, int64_t depth = 0) {
    int64_t& height = heights_[static_cast<size_t>(node)];
    if (height == kOpen) return Wrong("a tree has a cycle");
    if (height != kUnknown) return height;
    const TreeNode& n = nodes_[static_cast<size_t>(node)];
    if (n.mode == kLeaf) return height = 0;
    if (depth >= kDeepestTree) {
      return Unsupported(absl::StrCat("a tree with more than ", kDeepestTree, " levels"), "trees that are less deep");
    }
    height = kOpen;
    ASSIGN_OR_RETURN(const int64_t yes, Of(n.yes, depth + 1));
    ASSIGN_OR_RETURN(const int64_t no, Of(n.no, depth + 1));
    return height = std::max(yes, no) + 1;
  }
  // Whether every node has been reached from a root.
  bool Complete() const { return std::count(heights_.begin(), heights_.end(), kUnknown) == 0; }

 private:
  static constexpr int64_t kUnknown = -1, kOpen = -2;
  const std::vector<TreeNode>& nodes_;
  std::vector<int64_t> heights_;
};

absl::Status CheckEnsemble(const Ensemble& ensemble, int64_t features) {
  const auto count = static_cast<int64_t>(ensemble.nodes.size());
  if (count == 0 || ensemble.roots.empty()) return Wrong("it has no nodes");
  if (ensemble.targets < 1) return Wrong("it has no targets");
  for (const TreeNode& node : ensemble.nodes) {
    if (node.mode == kLeaf) continue;
    if (node.yes < 0 || node.yes >= count || node.no < 0 || node.no >= count) return Wrong("a branch leads nowhere");
    if (node.feature < 0 || node.feature >= features) {
      return Wrong(absl::StrCat("a node tests feature ", node.feature, " of ", features));
    }
  }
  for (const TreeNode& node : ensemble.nodes) {
    for (const auto& [target, weight] : node.weights) {
      if (target < 0 || target >= ensemble.targets) {
        return Wrong(absl::StrCat("a leaf has a weight for target ", target, " of ", ensemble.targets));
      }
    }
  }
  if (count > kMostWeights / ensemble.targets) {
    return Unsupported(absl::StrCat(count, " nodes and ", ensemble.targets, " targets"),
                       absl::StrCat("nodes times targets up to ", kMostWeights));
  }
  return absl::OkStatus();
}

// Leaves first, so that the tables of their weights hold nothing else. Gives the number of leaves.
int64_t MoveLeavesFirst(Ensemble& ensemble) {
  std::vector<int64_t> order;
  for (const bool leaves : {true, false}) {
    for (size_t i = 0; i < ensemble.nodes.size(); ++i) {
      if ((ensemble.nodes[i].mode == kLeaf) == leaves) order.push_back(static_cast<int64_t>(i));
    }
  }
  std::vector<int64_t> position(order.size());
  for (size_t i = 0; i < order.size(); ++i) position[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  std::vector<TreeNode> nodes;
  int64_t leaves = 0;
  for (int64_t old : order) {
    TreeNode node = ensemble.nodes[static_cast<size_t>(old)];
    const auto here = static_cast<int64_t>(nodes.size());
    const bool leaf = node.mode == kLeaf;
    leaves += leaf ? 1 : 0;
    node.yes = leaf ? here : position[static_cast<size_t>(node.yes)];
    node.no = leaf ? here : position[static_cast<size_t>(node.no)];
    nodes.push_back(std::move(node));
  }
  ensemble.nodes = std::move(nodes);
  for (int64_t& root : ensemble.roots) root = position[static_cast<size_t>(root)];
  return leaves;
}

// Emits the walk through all trees.
class Walk {
 public:
  Walk(Builder& b, const Ensemble& ensemble, Value x)
      : b_(b),
        ensemble_(ensemble),
        x_(std::move(x)),
        rows_(x_.dim(0)),
        trees_(static_cast<int64_t>(ensemble.roots.size())) {}

  // The leaves that each row reaches, [rows, trees].
  Value Leaves(int64_t levels) {
    Value reached = b_.Broadcast(Numbers(ensemble_.roots), {rows_, trees_});
    std::vector<int64_t> features, yes, no, missing;
    std::set<int64_t> modes;
    Tensor splits(reference::TensorType{x_.element(), {static_cast<int64_t>(ensemble_.nodes.size())}});
    int64_t i = 0;
    for (const TreeNode& node : ensemble_.nodes) {
      features.push_back(node.feature);
      yes.push_back(node.yes);
      no.push_back(node.no);
      missing.push_back(node.missing_is_yes ? 1 : 0);
      splits.SetFloat(i++, node.split);
      if (node.mode != kLeaf) modes.insert(node.mode);
    }
    const bool any_missing = std::count(missing.begin(), missing.end(), 1) > 0;
    const Value split_table = b_.Constant(std::move(splits));
    for (int64_t level = 0; level < levels; ++level) {
      const Value feature = Pick(Numbers(features), reached);
      const Value value =
          b_.Emit("gather_elements", {{"axis", int64_t{1}}}, {x_, feature}, {x_.element(), {rows_, trees_}});
      Value takes = Compare(value, Pick(split_table, reached), modes, reached);
      if (any_missing) {
        const Value nan = b_.Emit("is_nan", {}, {value}, {ElementType::kBool, value.shape()});
        const Value tracks = b_.Cast(Pick(Numbers(missing), reached), ElementType::kBool);
        takes = b_.Binary("logical_or", takes, b_.Binary("logical_and", nan, tracks));
      }
      reached = b_.Where(takes, Pick(Numbers(yes), reached), Pick(Numbers(no), reached));
    }
    return reached;
  }

  // Weights at the reached leaves, [rows, trees, targets]; `absent` where a leaf has none.
  Value Weights(const Value& reached, int64_t leaves, double absent, bool presence = false) {
    const int64_t targets = ensemble_.targets;
    Tensor table(reference::TensorType{x_.element(), {leaves, targets}});
    for (int64_t i = 0; i < leaves * targets; ++i) table.SetFloat(i, absent);
    for (int64_t leaf = 0; leaf < leaves; ++leaf) {
      for (const auto& [target, weight] : ensemble_.nodes[static_cast<size_t>(leaf)].weights) {
        const int64_t at = leaf * targets + target;
        const double before = table.GetFloat(at);
        table.SetFloat(at, presence ? 1 : before == absent ? weight : before + weight);
      }
    }
    return b_.Emit("gather", {{"axis", int64_t{0}}}, {b_.Constant(std::move(table)), reached},
                   {x_.element(), {rows_, trees_, targets}});
  }

  // [rows, trees, targets] to [rows, targets].
  Value Join(const char* reduction, const Value& weights) {
    return b_.Reshape(b_.Reduce(reduction, weights, {1}), {rows_, ensemble_.targets});
  }

 private:
  Value Numbers(const std::vector<int64_t>& values) {
    Tensor tensor(reference::TensorType{ElementType::kInt32, {static_cast<int64_t>(values.size())}});
    for (size_t i = 0; i < values.size(); ++i) tensor.SetInt(static_cast<int64_t>(i), values[i]);
    return b_.Constant(std::move(tensor));
  }
  Value Pick(const Value& table, const Value& index) {
    return b_.Emit("gather", {{"axis", int64_t{0}}}, {table, index}, {table.element(), index.shape()});
  }
  Value CompareAs(int64_t mode, const Value& a, const Value& b) {
    if (mode == kNotEqual)
      return b_.Emit("logical_not", {}, {b_.Compare("equal", a, b)}, {ElementType::kBool, a.shape()});
    return b_.Compare(kCompareNames[mode], a, b);
  }
  // By the mode of each node, where they differ.
  Value Compare(const Value& value, const Value& split, const std::set<int64_t>& modes, const Value& reached) {
    Value result;
    Value mode_of_node;
    for (int64_t mode : modes) {
      const Value here = CompareAs(mode, value, split);
      if (!result) {
        result = here;
        continue;
      }
      if (!mode_of_node) {
        std::vector<int64_t> all;
        for (const TreeNode& node : ensemble_.nodes) all.push_back(node.mode);
        mode_of_node = Pick(Numbers(all), reached);
      }
      result = b_.Where(b_.Compare("equal", mode_of_node, b_.Scalar(ElementType::kInt32, static_cast<double>(mode))),
                        here, result);
    }
    return result;
  }

  Builder& b_;
  const Ensemble& ensemble_;
  Value x_;
  int64_t rows_, trees_;
};

// An attribute of floats, which later versions may give as a tensor.
absl::StatusOr<std::vector<double>> FloatsOrTensor(Node& n, const std::string& name) {
  const AttributeProto* tensor = n.Find(name + "_as_tensor");
  if (!tensor) return n.Floats(name);
  ASSIGN_OR_RETURN(const Tensor values, n.TensorAttribute(*tensor));
  if (!reference::IsFloat(values.element())) return Wrong(absl::StrCat(name, "_as_tensor must be of floats"));
  std::vector<double> result;
  for (int64_t i = 0; i < values.size(); ++i) result.push_back(values.GetFloat(i));
  return result;
}

absl::StatusOr<int64_t> ParseMode(const std::string& mode) {
  static const std::map<std::string, int64_t> modes = {{"BRANCH_LEQ", kLessEqual},
                                                       {"BRANCH_LT", kLess},
                                                       {"BRANCH_GTE", kGreaterEqual},
                                                       {"BRANCH_GT", kGreater},
                                                       {"BRANCH_EQ", kEqual},
                                                       {"BRANCH_NEQ", kNotEqual},
                                                       {"LEAF", kLeaf}};
  auto found = modes.find(mode);
  if (found != modes.end()) return found->second;
  return Wrong(
      absl::StrCat("a node has the mode ", Quoted(mode), "; it must be BRANCH_LEQ, _LT, _GTE, _GT, _EQ, _NEQ or LEAF"));
}

// The trees of TreeEnsembleClassifier and TreeEnsembleRegressor; `kind` is what weights are for: class or target.
absl::StatusOr<Ensemble> ReadTrees(Node& n, const std::string& kind, int64_t targets) {
  Ensemble ensemble;
  ensemble.targets = targets;
  const std::vector<int64_t> trees = n.Ints("nodes_treeids"), ids = n.Ints("nodes_nodeids"),
                             features = n.Ints("nodes_featureids"), yes = n.Ints("nodes_truenodeids"),
                             no = n.Ints("nodes_falsenodeids"), missing = n.Ints("nodes_missing_value_tracks_true");
  const std::vector<std::string> modes = n.Strings("nodes_modes");
  ASSIGN_OR_RETURN(const std::vector<double> splits, FloatsOrTensor(n, "nodes_values"));
  const size_t count = ids.size();
  for (size_t size : {trees.size(), features.size(), yes.size(), no.size(), modes.size(), splits.size()}) {
    if (size != count) return Wrong(absl::StrCat("lists of nodes have ", count, " and ", size, " entries"));
  }
  if (!missing.empty() && missing.size() != count) return Wrong("nodes_missing_value_tracks_true has another size");
  std::map<std::pair<int64_t, int64_t>, int64_t> index;
  for (size_t i = 0; i < count; ++i) {
    if (!index.emplace(std::pair(trees[i], ids[i]), static_cast<int64_t>(i)).second) {
      return Wrong(absl::StrCat("tree ", trees[i], " has node ", ids[i], " twice"));
    }
  }
  std::vector<bool> has_parent(count, false);
  for (size_t i = 0; i < count; ++i) {
    TreeNode node;
    node.feature = features[i];
    node.split = splits[i];
    ASSIGN_OR_RETURN(node.mode, ParseMode(modes[i]));
    node.missing_is_yes = !missing.empty() && missing[i] != 0;
    if (node.mode != kLeaf) {
      for (const auto& [id, child] : {std::pair(yes[i], &node.yes), std::pair(no[i], &node.no)}) {
        auto found = index.find({trees[i], id});
        if (found == index.end()) return Wrong(absl::StrCat("tree ", trees[i], " has no node ", id));
        *child = found->second;
        has_parent[static_cast<size_t>(found->second)] = true;
      }
    }
    ensemble.nodes.push_back(std::move(node));
  }
  std::map<int64_t, int> roots;
  for (size_t i = 0; i < count; ++i) {
    roots[trees[i]] += has_parent[i] ? 0 : 1;
    if (!has_parent[i]) ensemble.roots.push_back(static_cast<int64_t>(i));
  }
  for (const auto& [tree, number] : roots) {
    if (number == 0) return Wrong(absl::StrCat("tree ", tree, " has no root: its branches form a cycle"));
    if (number > 1) return Wrong(absl::StrCat("tree ", tree, " has ", number, " roots: to some nodes no branch leads"));
  }
  const std::vector<int64_t> weight_trees = n.Ints(kind + "_treeids"), weight_nodes = n.Ints(kind + "_nodeids"),
                             weight_targets = n.Ints(kind + "_ids");
  ASSIGN_OR_RETURN(const std::vector<double> weights, FloatsOrTensor(n, kind + "_weights"));
  for (size_t size : {weight_trees.size(), weight_nodes.size(), weight_targets.size()}) {
    if (size != weights.size())
      return Wrong(absl::StrCat("lists of weights have ", weights.size(), " and ", size, " entries"));
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    auto found = index.find({weight_trees[i], weight_nodes[i]});
    if (found == index.end()) return Wrong("a weight belongs to a node that isn't there");
    ensemble.nodes[static_cast<size_t>(found->second)].weights.emplace_back(weight_targets[i], weights[i]);
  }
  return ensemble;
}

struct Scores {
  Value values;   // [rows, targets]
  Value present;  // whether a leaf gave one; null if all do
};

// Whether every row reaches a weight for each target, whatever its features: a tree whose leaves all have one.
bool CoversTargets(const Ensemble& ensemble, int64_t leaves) {
  std::vector<bool> covered(static_cast<size_t>(ensemble.targets), true);
  for (int64_t leaf = 0; leaf < leaves; ++leaf) {
    std::vector<bool> here(covered.size(), false);
    for (const auto& [target, weight] : ensemble.nodes[static_cast<size_t>(leaf)].weights)
      here[static_cast<size_t>(target)] = true;
    for (size_t t = 0; t < here.size(); ++t) covered[t] = covered[t] && here[t];
  }
  return std::count(covered.begin(), covered.end(), false) == 0;
}

absl::StatusOr<Scores> Evaluate(Node& n, Ensemble& ensemble, const std::string& aggregate, bool with_presence) {
  Builder& b = n.b;
  ASSIGN_OR_RETURN(const Value x, FeatureRows(n, 0));
  RETURN_IF_ERROR(CheckEnsemble(ensemble, x.dim(1)));
  Heights heights(ensemble);
  int64_t levels = 0;
  for (int64_t root : ensemble.roots) {
    ASSIGN_OR_RETURN(const int64_t height, heights.Of(root));
    levels = std::max(levels, height);
  }
  if (!heights.Complete()) return Wrong("some nodes are reached from no root: their tree has a cycle");
  const int64_t leaves = MoveLeavesFirst(ensemble);
  Walk walk(b, ensemble, x);
  const Value reached = walk.Leaves(levels);
  Scores scores;
  if (aggregate == "SUM" || aggregate == "AVERAGE") {
    scores.values = walk.Join("reduce_sum", walk.Weights(reached, leaves, 0));
    if (aggregate == "AVERAGE") {
      scores.values = b.Div(scores.values, b.Scalar(x.element(), static_cast<double>(ensemble.roots.size())));
    }
  } else if (aggregate == "MIN" || aggregate == "MAX") {
    // Of no weights at all: 0.
    const bool is_max = aggregate == "MAX";
    const double none = is_max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    const Value joined = walk.Join(is_max ? "reduce_max" : "reduce_min", walk.Weights(reached, leaves, none));
    scores.values = b.Where(b.Compare("equal", joined, b.Scalar(x.element(), none)), b.Scalar(x.element(), 0), joined);
  } else {
    return Wrong(absl::StrCat("aggregate_function is ", Quoted(aggregate), "; it must be SUM, AVERAGE, MIN or MAX"));
  }
  if (with_presence && !CoversTargets(ensemble, leaves)) {
    const Value any = walk.Join("reduce_max", walk.Weights(reached, leaves, 0, /*presence=*/true));
    scores.present = b.Cast(any, ElementType::kBool);
  }
  return scores;
}

absl::StatusOr<Value> AddBase(Node& n, const Value& scores, const std::vector<double>& base) {
  if (base.empty()) return scores;
  if (static_cast<int64_t>(base.size()) != scores.dim(1)) {
    return Wrong(absl::StrCat("base_values has ", base.size(), " entries, ", scores.dim(1), " are expected"));
  }
  return n.b.Add(scores, n.b.Cast(FloatConstant(n.b, base, {scores.dim(1)}), scores.element()));
}

absl::StatusOr<Results> ImportRegressor(Node& n) {
  ASSIGN_OR_RETURN(Ensemble ensemble, ReadTrees(n, "target", n.Int("n_targets", 1)));
  ASSIGN_OR_RETURN(const Scores scores, Evaluate(n, ensemble, n.String("aggregate_function", "SUM"), false));
  ASSIGN_OR_RETURN(const std::vector<double> base, FloatsOrTensor(n, "base_values"));
  ASSIGN_OR_RETURN(const Value with_base, AddBase(n, scores.values, base));
  ASSIGN_OR_RETURN(const Value result, PostTransform(n, with_base, n.String("post_transform", "NONE")));
  return Results{n.b.Cast(result, ElementType::kFloat32)};
}

// Two labels, weights for one class: the score says how far the second label is to be preferred.
absl::StatusOr<Results> BinaryScores(Node& n, const std::vector<int64_t>& labels, const Value& score,
                                     bool probabilities, const std::string& transform) {
  Builder& b = n.b;
  const ElementType element = score.element();
  const Value positive = b.Compare("greater", score, b.Scalar(element, probabilities ? 0.5 : 0.0));
  const Value index = b.Reshape(b.Cast(positive, ElementType::kInt64), {score.dim(0)});
  Value first, second = score;
  if (transform == "LOGISTIC") {
    first = b.Unary("sigmoid", b.Unary("neg", score));
    second = b.Unary("sigmoid", score);
  } else if (probabilities) {
    first = b.Sub(b.Scalar(element, 1), score);
  } else {
    first = b.Unary("neg", score);
  }
  if (transform != "NONE" && transform != "LOGISTIC") {
    return Unsupported(absl::StrCat("one score for two classes with post_transform ", transform), "NONE and LOGISTIC");
  }
  return Results{PickLabel(b, labels, index), b.Cast(b.Concat({first, second}, 1), ElementType::kFloat32)};
}

absl::StatusOr<Results> ImportClassifier(Node& n) {
  Builder& b = n.b;
  ASSIGN_OR_RETURN(const std::vector<int64_t> labels, ClassLabels(n, "classlabels_int64s", "classlabels_strings"));
  const auto classes = static_cast<int64_t>(labels.size());
  const std::string transform = n.String("post_transform", "NONE");
  ASSIGN_OR_RETURN(Ensemble ensemble, ReadTrees(n, "class", classes));
  ASSIGN_OR_RETURN(const std::vector<double> base, FloatsOrTensor(n, "base_values"));
  std::set<int64_t> weighted;
  bool all_positive = true;
  for (const TreeNode& node : ensemble.nodes) {
    for (const auto& [target, weight] : node.weights) {
      weighted.insert(target);
      all_positive = all_positive && weight >= 0;
    }
  }
  if (classes <= 2 && weighted.size() == 1) {
    if (*weighted.begin() != 0 || classes != 2 || base.size() > 1) {
      return Unsupported(absl::StrCat(classes, " labels, weights for class ", *weighted.begin(), " alone and ",
                                      base.size(), " base values"),
                         "two labels, weights for class 0 and at most one base value");
    }
    ensemble.targets = 1;
    ASSIGN_OR_RETURN(const Scores scores, Evaluate(n, ensemble, "SUM", false));
    ASSIGN_OR_RETURN(const Value score, AddBase(n, scores.values, base));
    return BinaryScores(n, labels, score, all_positive, transform);
  }
  ASSIGN_OR_RETURN(const Scores scores, Evaluate(n, ensemble, "SUM", base.empty()));
  ASSIGN_OR_RETURN(const Value with_base, AddBase(n, scores.values, base));
  Value candidates = with_base;
  if (scores.present) {
    const Value never = b.Scalar(with_base.element(), -std::numeric_limits<double>::infinity());
    candidates = b.Where(scores.present, with_base, never);
  }
  ASSIGN_OR_RETURN(const Value result, PostTransform(n, with_base, transform));
  return Results{BestLabel(b, labels, candidates), b.Cast(result, ElementType::kFloat32)};
}

// TreeEnsemble of version 5 numbers inner nodes and leaves apart.
absl::StatusOr<Ensemble> ReadEnsemble(Node& n) {
  Ensemble ensemble;
  ensemble.targets = n.Int("n_targets", 1);
  auto numbers = [&](const std::string& name) -> absl::StatusOr<std::vector<double>> {
    const AttributeProto* attribute = n.Find(name);
    if (!attribute) return std::vector<double>();
    ASSIGN_OR_RETURN(const Tensor tensor, n.TensorAttribute(*attribute));
    std::vector<double> values;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      values.push_back(reference::IsFloat(tensor.element()) ? tensor.GetFloat(i)
                                                            : static_cast<double>(tensor.GetInt(i)));
    }
    return values;
  };
  const std::vector<int64_t> features = n.Ints("nodes_featureids"), yes = n.Ints("nodes_truenodeids"),
                             no = n.Ints("nodes_falsenodeids"), yes_leaf = n.Ints("nodes_trueleafs"),
                             no_leaf = n.Ints("nodes_falseleafs"), missing = n.Ints("nodes_missing_value_tracks_true"),
                             targets = n.Ints("leaf_targetids");
  ASSIGN_OR_RETURN(const std::vector<double> modes, numbers("nodes_modes"));
  ASSIGN_OR_RETURN(const std::vector<double> splits, numbers("nodes_splits"));
  ASSIGN_OR_RETURN(const std::vector<double> weights, numbers("leaf_weights"));
  ASSIGN_OR_RETURN(const std::vector<double> members, numbers("membership_values"));
  ensemble.roots = n.Ints("tree_roots");
  const size_t count = features.size();
  for (size_t size : {yes.size(), no.size(), yes_leaf.size(), no_leaf.size(), modes.size(), splits.size()}) {
    if (size != count) return Wrong(absl::StrCat("lists of nodes have ", count, " and ", size, " entries"));
  }
  if (!missing.empty() && missing.size() != count) return Wrong("nodes_missing_value_tracks_true has another size");
  if (targets.size() != weights.size()) return Wrong("leaf_targetids and leaf_weights have different sizes");
  const auto inner = static_cast<int64_t>(count), leaves = static_cast<int64_t>(weights.size());
  for (int64_t root : ensemble.roots) {
    if (root < 0 || root >= inner) return Wrong(absl::StrCat("there is no root ", root));
  }
  // Leaf k is node inner + k; tests of membership add nodes behind.
  auto child = [&](int64_t number, int64_t is_leaf) -> absl::StatusOr<int64_t> {
    if (number >= 0 && number < (is_leaf ? leaves : inner)) return is_leaf ? inner + number : number;
    return Wrong(absl::StrCat("there is no ", is_leaf ? "leaf " : "node ", number));
  };
  ensemble.nodes.resize(count + weights.size());
  for (size_t k = 0; k < weights.size(); ++k) ensemble.nodes[count + k].weights = {{targets[k], weights[k]}};
  size_t next_member = 0;
  for (size_t i = 0; i < count; ++i) {
    TreeNode node;
    node.feature = features[i];
    node.split = splits[i];
    node.missing_is_yes = !missing.empty() && missing[i] != 0;
    if (!(modes[i] >= 0 && modes[i] <= kMember)) return Wrong("nodes_modes has an entry outside of 0 to 6");
    node.mode = static_cast<int64_t>(modes[i]);
    ASSIGN_OR_RETURN(node.yes, child(yes[i], yes_leaf[i]));
    ASSIGN_OR_RETURN(node.no, child(no[i], no_leaf[i]));
    if (node.mode != kMember) {
      ensemble.nodes[i] = node;
      continue;
    }
    // The node's set is the next one in the list, which NaN ends: a chain of equalities.
    std::vector<double> set;
    while (next_member < members.size() && !std::isnan(members[next_member])) set.push_back(members[next_member++]);
    if (next_member == members.size()) return Wrong("membership_values has fewer sets than there are tests");
    ++next_member;
    if (set.empty()) return Wrong("a test of membership in an empty set");
    node.mode = kEqual;
    const int64_t otherwise = node.no;
    auto at = static_cast<int64_t>(i);
    for (size_t m = 0; m < set.size(); ++m) {
      node.split = set[m];
      node.no = m + 1 < set.size() ? static_cast<int64_t>(ensemble.nodes.size()) : otherwise;
      if (m + 1 < set.size()) ensemble.nodes.emplace_back();
      ensemble.nodes[static_cast<size_t>(at)] = node;
      at = node.no;
    }
  }
  return ensemble;
}

absl::StatusOr<Results> ImportEnsemble(Node& n) {
  static constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  static constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const int64_t aggregate = n.Int("aggregate_function", 1), transform = n.Int("post_transform", 0);
  if (aggregate < 0 || aggregate > 3) return Wrong("aggregate_function must be 0 to 3");
  if (transform < 0 || transform > 4) return Wrong("post_transform must be 0 to 4");
  ASSIGN_OR_RETURN(Ensemble ensemble, ReadEnsemble(n));
  ASSIGN_OR_RETURN(const Scores scores, Evaluate(n, ensemble, kAggregates[aggregate], false));
  ASSIGN_OR_RETURN(const Value result, PostTransform(n, scores.values, kTransforms[transform]));
  return Results{n.b.Cast(result, n.In(0).element())};
}

}  // namespace

Family MlTreesFamily() {
  static const std::vector<Operator> operators = {
      {"TreeEnsemble", {5}, 1, 1, ImportEnsemble},
      {"TreeEnsembleClassifier", {1, 3, 5}, 1, 1, ImportClassifier},
      {"TreeEnsembleRegressor", {1, 3, 5}, 1, 1, ImportRegressor},
  };
  return {"decision trees", operators, kMlDomain};
}

}  // namespace aot::import::onnx
