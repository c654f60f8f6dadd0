// Einsum as sums, permutations and matrix products.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/import/onnx/ops/matrix_product.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::Shape;

// A term's labels, one a dimension. Letters stand for themselves; the dimensions of an ellipsis are numbered from the
// last one (0) with characters that can't be in an equation, so that those of different operands line up at the end as
// in NumPy.
using Labels = std::string;
char EllipsisLabel(int64_t from_end) { return static_cast<char>(-1 - from_end); }

struct Term {
  Labels labels;
  Value value;
};

absl::StatusOr<Labels> ParseTerm(absl::string_view text, int64_t ellipsis_rank) {
  Labels labels;
  bool has_ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels += c;
    } else if (text.substr(i, 3) == "..." && !has_ellipsis) {
      has_ellipsis = true;
      for (int64_t k = ellipsis_rank; k-- > 0;) labels += EllipsisLabel(k);
      i += 2;
    } else {
      return absl::InvalidArgumentError(absl::StrCat("the equation's term ", Quoted(text), " is not understood"));
    }
  }
  return labels;
}

int64_t LetterCount(absl::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return c != '.'; });
}

// Takes the diagonal where a label comes twice: with the two dimensions last, its elements are size + 1 apart.
void TakeDiagonals(Builder& b, Term& term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    const size_t j = term.labels.find(term.labels[i], i + 1);
    if (j == std::string::npos) continue;
    std::vector<int64_t> perm;
    Labels labels;
    for (size_t d = 0; d < term.labels.size(); ++d) {
      if (d == i || d == j) continue;
      perm.push_back(static_cast<int64_t>(d));
      labels += term.labels[d];
    }
    labels += term.labels[i];
    perm.push_back(static_cast<int64_t>(i));
    perm.push_back(static_cast<int64_t>(j));
    Value x = b.Transpose(term.value, perm);
    Shape shape(x.shape().begin(), x.shape().end() - 2);
    const int64_t size = x.dim(x.rank() - 1);
    shape.push_back(size * size);
    x = b.Reshape(x, shape);
    std::vector<int64_t> steps(shape.size(), 1);
    steps.back() = size + 1;
    shape.back() = size;
    term.value = b.Slice(x, std::vector<int64_t>(shape.size(), 0), steps, shape);
    term.labels = labels;
    i = static_cast<size_t>(-1);  // start over: a label may come three times
  }
}

// Sums over the labels that nothing else needs.
void SumOut(Builder& b, Term& term, const Labels& needed) {
  std::vector<int64_t> axes;
  Labels labels;
  Shape shape;
  for (size_t d = 0; d < term.labels.size(); ++d) {
    if (needed.find(term.labels[d]) == std::string::npos) {
      axes.push_back(static_cast<int64_t>(d));
    } else {
      labels += term.labels[d];
      shape.push_back(term.value.dim(static_cast<int64_t>(d)));
    }
  }
  if (axes.empty()) return;
  term.value = b.Reshape(b.Reduce("reduce_sum", term.value, axes), shape);
  term.labels = labels;
}

// The term with its dimensions in the order of `labels`; those it hasn't got are 1.
Value Arrange(Builder& b, const Term& term, const Labels& labels) {
  std::vector<int64_t> perm;
  Shape shape;
  for (char label : labels) {
    const size_t at = term.labels.find(label);
    if (at == std::string::npos) {
      shape.push_back(1);
      continue;
    }
    perm.push_back(static_cast<int64_t>(at));
    shape.push_back(term.value.dim(static_cast<int64_t>(at)));
  }
  return b.Reshape(b.Transpose(term.value, perm), shape);
}

int64_t Product(const Shape& shape, size_t begin, size_t end) {
  return Elements(absl::MakeConstSpan(shape).subspan(begin, end - begin));
}

// One matrix product: shared labels that are still needed are batch dimensions, shared ones that aren't are contracted.
Term Multiply(Builder& b, const Term& lhs, const Term& rhs, const Labels& needed) {
  Labels batch, contracted, rows, columns;
  for (char label : lhs.labels) {
    const bool shared = rhs.labels.find(label) != std::string::npos;
    const bool keep = needed.find(label) != std::string::npos;
    (shared ? (keep ? batch : contracted) : rows) += label;
  }
  for (char label : rhs.labels) {
    if (lhs.labels.find(label) == std::string::npos) columns += label;
  }
  // Dimensions of 1 against larger ones (ellipses may broadcast) are made equal first.
  auto sized = [&](const Term& term, const Term& other, const Labels& labels) {
    Value value = Arrange(b, term, labels);
    Shape shape = value.shape();
    for (size_t i = 0; i < labels.size(); ++i) {
      const size_t at = other.labels.find(labels[i]);
      if (at != std::string::npos) shape[i] = std::max(shape[i], other.value.dim(static_cast<int64_t>(at)));
    }
    return b.Broadcast(value, shape);
  };
  const Value a = sized(lhs, rhs, batch + rows + contracted);
  const Value c = sized(rhs, lhs, batch + contracted + columns);
  const size_t nb = batch.size(), nr = rows.size(), nk = contracted.size();
  const Shape batch_shape(a.shape().begin(), a.shape().begin() + static_cast<int64_t>(nb));
  Shape a_shape = batch_shape, c_shape = batch_shape, shape = batch_shape;
  a_shape.push_back(Product(a.shape(), nb, nb + nr));
  a_shape.push_back(Product(a.shape(), nb + nr, nb + nr + nk));
  c_shape.push_back(Product(c.shape(), nb, nb + nk));
  c_shape.push_back(Product(c.shape(), nb + nk, c.shape().size()));
  shape.insert(shape.end(), a.shape().begin() + static_cast<int64_t>(nb),
               a.shape().begin() + static_cast<int64_t>(nb + nr));
  shape.insert(shape.end(), c.shape().begin() + static_cast<int64_t>(nb + nk), c.shape().end());
  const Value product = b.MatMul(b.Reshape(a, a_shape), b.Reshape(c, c_shape));
  return {batch + rows + columns, b.Reshape(product, shape)};
}

// Checks that each label has one size, or 1 within an ellipsis.
absl::Status CheckSizes(const std::vector<Term>& terms) {
  for (const Term& a : terms) {
    for (size_t i = 0; i < a.labels.size(); ++i) {
      for (const Term& c : terms) {
        for (size_t j = 0; j < c.labels.size(); ++j) {
          const int64_t p = a.value.dim(static_cast<int64_t>(i)), q = c.value.dim(static_cast<int64_t>(j));
          if (a.labels[i] != c.labels[j] || p == q || (a.labels[i] < 0 && (p == 1 || q == 1))) continue;
          return absl::InvalidArgumentError(absl::StrCat("dimensions of one label have the sizes ", p, " and ", q));
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Value>> ImportEinsum(Node& n) {
  std::string equation = n.String("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const size_t arrow = equation.find("->");
  const std::vector<std::string> texts = absl::StrSplit(equation.substr(0, arrow), ',');
  if (static_cast<int64_t>(texts.size()) != n.input_count()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the equation has ", texts.size(), " terms, the node ", n.input_count(), " inputs"));
  }
  std::vector<Term> terms;
  int64_t widest_ellipsis = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!n.Has(i)) return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing"));
    RETURN_IF_ERROR(n.RequireSameElement(0, i));
    const bool has_ellipsis = texts[i].find("...") != std::string::npos;
    const int64_t extra = n.In(i).rank() - LetterCount(texts[i]);
    if (extra < 0 || (extra > 0 && !has_ellipsis)) {
      return absl::InvalidArgumentError(absl::StrCat("the equation's term ", Quoted(texts[i]),
                                                     " doesn't fit an input of ", n.In(i).rank(), " dimensions"));
    }
    ASSIGN_OR_RETURN(Labels labels, ParseTerm(texts[i], extra));
    terms.push_back({labels, n.In(i)});
    widest_ellipsis = std::max(widest_ellipsis, extra);
  }
  RETURN_IF_ERROR(CheckSizes(terms));
  Labels output;
  if (arrow != std::string::npos) {
    ASSIGN_OR_RETURN(output, ParseTerm(absl::string_view(equation).substr(arrow + 2), widest_ellipsis));
  } else {
    // Implicit form: the ellipsis, then the letters that come once, in alphabetical order.
    for (int64_t k = widest_ellipsis; k-- > 0;) output += EllipsisLabel(k);
    for (char c = 'A'; c <= 'z'; ++c) {
      int64_t count = 0;
      for (const Term& term : terms) count += std::count(term.labels.begin(), term.labels.end(), c);
      if (count == 1) output += c;
    }
  }
  for (size_t i = 0; i < output.size(); ++i) {
    const bool known = std::any_of(terms.begin(), terms.end(),
                                   [&](const Term& term) { return term.labels.find(output[i]) != std::string::npos; });
    if (!known || output.find(output[i], i + 1) != std::string::npos) {
      return absl::InvalidArgumentError("the equation's result has a label that no term has, or one twice");
    }
  }
  for (Term& term : terms) TakeDiagonals(n.b, term);
  while (true) {
    for (size_t i = 0; i < terms.size(); ++i) {
      Labels needed = output;
      for (size_t j = 0; j < terms.size(); ++j) {
        if (j != i) needed += terms[j].labels;
      }
      SumOut(n.b, terms[i], needed);
    }
    if (terms.size() == 1) break;
    Labels needed = output;
    for (size_t j = 2; j < terms.size(); ++j) needed += terms[j].labels;
    terms[0] = Multiply(n.b, terms[0], terms[1], needed);
    terms.erase(terms.begin() + 1);
  }
  return std::vector<Value>{Arrange(n.b, terms[0], output)};
}

}  // namespace aot::import::onnx
