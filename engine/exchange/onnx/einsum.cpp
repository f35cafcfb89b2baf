#include "engine/exchange/onnx/einsum.h"

#include <algorithm>
#include <map>

#include "engine/base/error.h"
#include "engine/exchange/onnx/fold_parts.h"

namespace loom::onnx_file {
namespace {

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The terms of one side, without spaces.
std::vector<std::string> termsOf(const std::string& text) {
  std::vector<std::string> terms(1);
  for (const char c : text) {
    if (c == ',')
      terms.emplace_back();
    else if (c != ' ')
      terms.back() += c;
  }
  return terms;
}

// A term with digits for its "...", which stands for `many` axes, the last of the `most` that any term has.
std::string namedAxes(const std::string& term, std::size_t many, std::size_t most) {
  std::string axes;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (isLetter(term[i])) {
      axes += term[i];
    } else if (term.compare(i, 3, "...") == 0 && term.find("...", i + 3) == term.npos) {
      for (std::size_t k = most - many; k < most; ++k) axes += static_cast<char>('0' + k);
      i += 2;
    } else {
      throwError(ErrorCode::badData, "its equation has a term '{}', but letters and one '...' are understood", term);
    }
  }
  return axes;
}

}  // namespace

std::map<char, std::int64_t> extentsByAxis(const Equation& equation, const std::vector<Extents>& operands) {
  std::map<char, std::int64_t> known;
  for (std::size_t i = 0; i < operands.size(); ++i)
    for (std::size_t axis = 0; axis < operands[i].size(); ++axis) {
      std::int64_t& extent = known.try_emplace(equation.operands[i][axis], 1).first->second;
      const std::int64_t here = operands[i][axis];
      if (extent != 1 && here != 1 && extent != here)
        throwError(ErrorCode::badData, "axis '{}' of its equation has {} elements in one operand and {} in another",
                   equation.operands[i][axis], extent, here);
      if (here != 1) extent = here;
    }
  return known;
}

Equation equationOf(const std::string& text, const std::vector<std::size_t>& ranks) {
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> terms = termsOf(text.substr(0, arrow));
  if (terms.size() != ranks.size())
    throwError(ErrorCode::badData, "its equation '{}' has {} terms, but it has {} operands", text, terms.size(),
               ranks.size());
  std::vector<std::size_t> many;
  std::size_t most = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const bool open = terms[i].find("...") != std::string::npos;
    const std::size_t named = terms[i].size() - (open ? 3 : 0);
    if (open ? named > ranks[i] : named != ranks[i])
      throwError(ErrorCode::badData, "its term '{}' names {} axes, but the operand has {}", terms[i], named, ranks[i]);
    many.push_back(open ? ranks[i] - named : 0);
    most = std::max(most, many.back());
  }
  if (most > 9) throwError(ErrorCode::badData, "its '...' stands for {} axes, but at most 9 are read", most);
  Equation equation;
  std::string all;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    equation.operands.push_back(namedAxes(terms[i], many[i], most));
    all += equation.operands.back();
  }
  if (arrow != text.npos) {
    const std::vector<std::string> results = termsOf(text.substr(arrow + 2));
    if (results.size() != 1) throwError(ErrorCode::badData, "its equation '{}' has several results", text);
    equation.result = namedAxes(results[0], most, most);
  } else {
    for (std::size_t k = 0; k < most; ++k) equation.result += static_cast<char>('0' + k);
    std::string once;
    for (const char axis : all)
      if (isLetter(axis) && std::count(all.begin(), all.end(), axis) == 1) once += axis;
    std::sort(once.begin(), once.end());
    equation.result += once;
  }
  for (const char axis : equation.result)
    if (!holds(all, axis) || std::count(equation.result.begin(), equation.result.end(), axis) > 1)
      throwError(ErrorCode::badData, "the result of its equation '{}' must name axes of its operands, each once", text);
  return equation;
}

Extents einsumExtents(const Equation& equation, const std::vector<Extents>& operands) {
  const std::map<char, std::int64_t> whole = extentsByAxis(equation, operands);
  Extents extents;
  for (const char axis : equation.result) extents.push_back(whole.at(axis));
  return extents;
}

ConstantPointer foldEinsum(const Equation& equation, const std::vector<const Constant*>& operands, std::int64_t most) {
  std::vector<Extents> extents;
  for (const Constant* operand : operands) extents.push_back(operand->extents);
  const std::map<char, std::int64_t> whole = extentsByAxis(equation, extents);
  // The result's axes first, those that are summed behind them.
  std::string axes = equation.result;
  for (const auto& [axis, extent] : whole)
    if (!holds(axes, axis)) axes += axis;
  Extents loop;
  for (const char axis : axes) loop.push_back(whole.at(axis));
  const std::int64_t steps = elementsOf(loop);
  if (steps > most) return nullptr;
  const Extents result = einsumExtents(equation, extents);
  const auto stepsOf = [&](const std::string& named, const Extents& own) {
    std::vector<std::int64_t> strides(axes.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t i = named.size(); i-- > 0;) {
      if (own[i] != 1) strides[axes.find(named[i])] += stride;  // of a letter twice: its diagonal
      stride *= own[i];
    }
    return strides;
  };
  std::vector<std::vector<std::int64_t>> strides;
  for (std::size_t k = 0; k < operands.size(); ++k) strides.push_back(stepsOf(equation.operands[k], extents[k]));
  const std::vector<std::int64_t> ofResult = stepsOf(equation.result, result);
  const auto kind = operands.empty() ? Constant::Kind::real : operands[0]->kind;
  std::vector<double> sums(static_cast<std::size_t>(elementsOf(result)), 0.0);
  std::vector<std::int64_t> at(axes.size(), 0);
  for (std::int64_t step = 0; step < steps; ++step) {
    double value = 1;
    std::int64_t place = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      std::int64_t from = 0;
      for (std::size_t i = 0; i < axes.size(); ++i) from += at[i] * strides[k][i];
      value *= operands[k]->at(operands[k]->uniform() ? 0 : static_cast<std::size_t>(from));
    }
    for (std::size_t i = 0; i < axes.size(); ++i) place += at[i] * ofResult[i];
    sums[static_cast<std::size_t>(place)] += value;
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (++at[i] < loop[i]) break;
      at[i] = 0;
    }
  }
  const std::shared_ptr<Constant> constant = made(kind, result, sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) put(*constant, i, sums[i]);
  return constant;
}

}  // namespace loom::onnx_file
