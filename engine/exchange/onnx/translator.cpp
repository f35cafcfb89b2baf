#include "engine/exchange/onnx/translator.h"

#include <algorithm>

#include "engine/base/error.h"

namespace loom::onnx_file {
void addLinearRules(std::unordered_map<std::string, Translator::Rule>& rules);
void addShapeRules(std::unordered_map<std::string, Translator::Rule>& rules);
void addElementwiseRules(std::unordered_map<std::string, Translator::Rule>& rules);
void addAxesRules(std::unordered_map<std::string, Translator::Rule>& rules);
void addSequenceRules(std::unordered_map<std::string, Translator::Rule>& rules);
void addLearningRules(std::unordered_map<std::string, Translator::Rule>& rules);

namespace {

const std::unordered_map<std::string, Translator::Rule>& rules() {
  static const auto table = [] {
    std::unordered_map<std::string, Translator::Rule> all;
    addLinearRules(all);
    addShapeRules(all);
    addElementwiseRules(all);
    addAxesRules(all);
    addSequenceRules(all);
    addLearningRules(all);
    return all;
  }();
  return table;
}

}  // namespace

void Translator::refuse(std::string sentence) {
  throw Error(ErrorCode::badProject, std::move(sentence));
}

void Translator::tell(ReportItem::Kind kind, const OnnxNode& node, const std::string& drawn, std::string sentence) {
  m_report.add(kind, m_graph.name, node.title(), drawn, std::move(sentence));
}

void Translator::run() {
  const std::set<const OnnxNode*> live = countReaders();
  for (const OnnxValue& input : m_graph.inputs) drawInput(input);
  for (const OnnxNode& node : m_graph.nodes) {
    if (live.count(&node))
      translate(node);
    else
      tell(ReportItem::Kind::ignored, node, {}, "Nothing reads what it gives.");
  }
  finish();
}

// The nodes that an output of the file depends on. What only others read would be an output here, since outputs are
// those that nothing reads.
std::set<const OnnxNode*> Translator::countReaders() {
  std::set<const OnnxNode*> live;
  for (const OnnxValue& output : m_graph.outputs) ++m_readers[output.name];
  for (auto node = m_graph.nodes.rbegin(); node != m_graph.nodes.rend(); ++node) {
    if (std::none_of(node->outputs.begin(), node->outputs.end(),
                     [this](const std::string& output) { return readersOf(output) > 0; }))
      continue;
    live.insert(&*node);
    for (const std::string& input : node->inputs)
      if (!input.empty()) ++m_readers[input];
    for (const auto& [key, branch] : node->branches)
      for (const OnnxNode& inner : branch->nodes)
        for (const std::string& input : inner.inputs)
          if (!input.empty()) ++m_readers[input];
  }
  return live;
}

// A model says nowhere what was done to its pictures.
static std::string wordOnPixels(const std::vector<std::int64_t>& sample) {
  if (sample.size() != 3 || (sample[0] != 1 && sample[0] != 3)) return {};
  return " The file does not tell which numbers it wants for pictures: 0 to 1, or less a mean and over a deviation; "
         "pictures come as 0 to 255, and a step of preparation makes these of them.";
}

void Translator::drawInput(const OnnxValue& input) {
  const Fact& fact = m_facts.of(input.name);
  const bool read = m_readers[input.name] > 0;
  if (const auto unlike = m_facts.unlike.find(input.name); unlike != m_facts.unlike.end()) {
    m_report.add(ReportItem::Kind::untranslatable, m_graph.name, input.name, {},
                 fmt::format("Its first axis has {}, that of another input {}: which of them is the batch cannot be "
                             "told; export the model with the batch left open.",
                             unlike->second, m_facts.fixedBatch));
    return;
  }
  if (!fact.known) {
    m_report.add(
        ReportItem::Kind::untranslatable, m_graph.name, input.name, {},
        "The file does not say how many axes this input has, or it is a single number; export it with a shape.");
    return;
  }
  std::vector<std::int64_t> sample;
  for (const std::int64_t extent : fact.extents)
    if (!holdsBatch(extent)) sample.push_back(extent);
  const bool scalar = sample.empty();
  if (scalar) sample.push_back(1);
  try {
    const std::string id = m_drawing.add("Input", idFrom(input.name, "Input"), {{"shape", sample}}, {});
    if (isWhole(input.type) && read) m_wholeInputs[input.name] = id;
    View view = plainView(m_drawing.output(id), Shape(sample), scalar ? Extents{kBatch, 1} : fact.extents);
    if (scalar) view = *reshaped(view, fact.extents);
    m_views[input.name] = std::move(view);
    const std::size_t batch = m_facts.batchAxis.at(input.name);
    m_report.add(
        read ? batch == 0 ? ReportItem::Kind::translated : ReportItem::Kind::converted : ReportItem::Kind::ignored,
        m_graph.name, input.name, id,
        !read        ? std::string("Nothing reads this input.")
        : batch == 0 ? "Input." + wordOnPixels(sample)
                     : fmt::format("Input; the file has the batch as axis {}, here it always stands in front.", batch) +
                           wordOnPixels(sample));
  } catch (const Error& error) {
    m_report.add(ReportItem::Kind::untranslatable, m_graph.name, input.name, {},
                 fmt::format("It cannot be an Input: {}.", error.message()));
  }
}

void Translator::translate(const OnnxNode& node) {
  Drawing::Mark mark = m_drawing.mark();
  try {
    for (const std::string& input : node.inputs)
      if (!input.empty() && !m_facts.isConstant(input) && !m_views.count(input) && !m_scores.count(input))
        refuse("what it reads could not be translated");
    if (const std::string reason = whyNotCalculable(node, m_facts); !reason.empty()) refuse(reason);
    if (!m_scores.empty() && onScores(node)) return;
    for (const std::string& input : node.inputs)
      if (m_scores.count(input) && !(node.op == "MatMul" && input == node.input(0) && readersOf(input) == 1))
        drawScores(node, input);
    const auto rule = rules().find(node.op);
    if (rule == rules().end()) refuse("this operator has no counterpart here");
    mark = m_drawing.mark();
    (this->*rule->second)(node);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::badProject && error.code() != ErrorCode::badData) throw;
    for (const std::string& output : node.outputs) {
      m_views.erase(output);
      m_scores.erase(output);
    }
    m_drawing.takeBack(mark);
    standIn(node, error.message());
  }
}

void Translator::standIn(const OnnxNode& node, const std::string& reason) {
  std::string sentence = fmt::format("It was left out: {}.", reason);
  std::string inputs;
  for (const std::string& output : node.outputs) {
    const Fact& fact = m_facts.of(output);
    if (output.empty() || !m_readers.count(output) || m_views.count(output) || m_scores.count(output) || fact.constant)
      continue;
    if (!fact.known || std::count_if(fact.extents.begin(), fact.extents.end(),
                                     [](std::int64_t extent) { return holdsBatch(extent); }) > 1)
      continue;
    Extents extents = fact.extents;
    std::vector<std::int64_t> sample;
    bool batched = true;
    for (const std::int64_t extent : extents) {
      if (!holdsBatch(extent))
        sample.push_back(extent);
      else if (extent != kBatch)
        batched = false;
    }
    if (!batched || sample.empty() || !holdsBatch(extents)) continue;
    try {
      const std::string id = m_drawing.add("Input", wish(node) + "_stand_in", {{"shape", sample}}, {});
      m_views[output] = plainView(m_drawing.output(id), Shape(sample), extents);
      inputs += (inputs.empty() ? "" : ", ") + id;
    } catch (const Error&) {
      // Then what follows is told as well.
    }
  }
  if (!inputs.empty())
    sentence += fmt::format(" The input '{}' stands in its place, so that what follows is drawn.", inputs);
  tell(ReportItem::Kind::untranslatable, node, inputs, std::move(sentence));
}

void Translator::finish() {
  for (const OnnxValue& output : m_graph.outputs) {
    if (m_scores.count(output.name)) drawScores({.name = output.name, .op = "MatMul"}, output.name);
    const auto found = m_views.find(output.name);
    if (found == m_views.end()) {
      const bool told = !m_facts.isConstant(output.name);
      m_report.add(ReportItem::Kind::untranslatable, m_graph.name, output.name, {},
                   told ? "This output of the file could not be translated."
                        : "This output of the file is the same for every sample: it does not depend on what is fed.");
      continue;
    }
    const Endpoint end = m_drawing.draw(found->second, idFrom(output.name, "output"));
    // Of a node with several outputs the first alone counts, and only where nothing reads the others.
    if (m_drawing.readers(end.node) > 0 || m_drawing.hasSeveralOutputs(end.node))
      m_report.add(ReportItem::Kind::converted, m_graph.name, output.name,
                   m_drawing.add("Identity", idFrom(output.name, "output"), Json::object(), {end}),
                   "An output of the file beside others of its layer, or that other layers read as well: an Identity "
                   "gives it, since here outputs are those that nothing reads.");
    else if (found->second.batchAxis() > 0)
      m_report.add(ReportItem::Kind::converted, m_graph.name, output.name, end.node,
                   fmt::format("The file has the batch as axis {} of this output, here it always stands in front.",
                               found->second.batchAxis()));
  }
  for (const std::string& id : std::set<std::string>(m_spare)) m_drawing.removeUnread(id, m_spare);
  for (const auto& [input, id] : m_wholeInputs)
    if (!m_drawing.isIndex(id))
      m_report.add(ReportItem::Kind::converted, m_graph.name, input, id,
                   "Its whole numbers are calculated with as floating point here: exact up to 16,777,216.");
}

const View& Translator::view(const std::string& value) const {
  const auto found = m_views.find(value);
  if (found == m_views.end())
    refuse(value.empty()               ? "an input is missing"
           : m_facts.isConstant(value) ? "it works on a constant where a fed value is wanted"
                                       : "what it reads could not be translated");
  return found->second;
}

Endpoint Translator::drawn(const std::string& value, const OnnxNode& node) {
  const View& from = view(value);
  if (!from.hasBatch()) refuse("its input does not depend on what is fed");
  return m_drawing.draw(from, wish(node));
}

Endpoint Translator::parameter(const OnnxNode& node, const std::string& value, const Extents& sample) {
  const Constant& constant = *m_facts.constant(value);
  const bool trained = m_graph.constants.count(value) > 0 && constant.kind == Constant::Kind::real;
  Extents extents = sample;
  if (extents.empty()) extents.push_back(1);
  std::string name = value;
  std::replace(name.begin(), name.end(), '.', '_');
  const std::string id = m_drawing.add("Parameter", trained ? idFrom(name, "Parameter") : wish(node) + "_constant",
                                       {{"shape", extents}, {"trained", trained}}, {});
  // Of one that was stretched over a fixed batch, in front, the first sample: withoutBatch() saw that all are alike.
  std::vector<float> values = constant.allReals();
  values.resize(static_cast<std::size_t>(elementsOf(extents)));
  m_drawing.weight(id, "weight", Shape(extents), std::move(values));
  return m_drawing.output(id);
}

namespace {

// A constant that an exporter stretched over the batch that it fixed: the same for each sample, which stand in front.
bool isAlikeOverBatch(const Constant& constant, const Extents& extents, std::size_t batch, std::int64_t fixedBatch) {
  if (fixedBatch < 1 || extents[batch] != fixedBatch) return false;
  for (std::size_t axis = 0; axis < batch; ++axis)
    if (extents[axis] != 1) return false;
  if (constant.uniform()) return true;
  const std::size_t each = constant.stored() / static_cast<std::size_t>(fixedBatch);
  for (std::size_t i = each; i < constant.stored(); ++i)
    if (constant.at(i) != constant.at(i - each)) return false;
  return true;
}

}  // namespace

Extents Translator::withoutBatch(const Constant& constant, const View& like, OverBatch over) const {
  Extents extents = constant.extents;
  if (extents.size() > like.axes.size()) refuse("its constant has more axes than what is fed");
  extents.insert(extents.begin(), like.axes.size() - extents.size(), 1);
  const auto batch = static_cast<std::size_t>(like.batchAxis());
  if (extents[batch] != 1 &&
      !(over == OverBatch::alike && isAlikeOverBatch(constant, extents, batch, m_facts.fixedBatch)))
    refuse("its constant differs from sample to sample");
  if (like.axes[batch].size() != 1) refuse("its constant meets an axis that holds the batch and more");
  extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(batch));
  return extents;
}

const Constant& Translator::constant(const OnnxNode& node, std::size_t input) const {
  const Constant* found = optionalConstant(node, input);
  if (!found) refuse(fmt::format("its input {} is missing", input + 1));
  return *found;
}

const Constant* Translator::optionalConstant(const OnnxNode& node, std::size_t input) const {
  if (node.input(input).empty()) return nullptr;
  const Constant* found = m_facts.constant(node.input(input));
  if (!found)
    refuse(fmt::format("its input {} is not a weight but calculated, which has no counterpart here", input + 1));
  return found;
}

void Translator::give(const OnnxNode& node, View view, std::size_t output) {
  if (output >= node.outputs.size() || node.outputs[output].empty()) return;
  const Fact& fact = m_facts.of(node.outputs[output]);
  if (fact.known && fact.extents != view.extents())
    throwError(ErrorCode::badProject, "its output is {} in the file, but {} here", Shape(fact.extents).toString(),
               Shape(view.extents()).toString());
  m_views[node.outputs[output]] = std::move(view);
}

void Translator::map(const OnnxNode& node, const std::string& layer, Json values, ReportItem::Kind kind,
                     const std::string& sentence) {
  const Endpoint x = drawn(node.input(0), node);
  const std::string id = m_drawing.add(layer, wish(node), std::move(values), {x});
  const Endpoint y = m_drawing.output(id);
  give(node, likeView(y, m_drawing.shape(y), view(node.input(0))));
  tell(kind, node, id, sentence.empty() ? layer + "." : sentence);
}

std::string Translator::wish(const OnnxNode& node) const {
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const std::string& weight = node.inputs[i];
    const std::size_t dot = weight.rfind('.');
    if (dot == weight.npos || dot == 0 || !m_graph.constants.count(weight)) continue;
    const std::string last = weight.substr(dot + 1);
    if (last == "weight" || last == "bias") {
      std::string path = weight.substr(0, dot);
      std::replace(path.begin(), path.end(), '.', '_');
      return idFrom(path, node.op);
    }
  }
  return idFrom(node.name, node.op);
}

std::size_t Translator::readersOf(const std::string& value) const {
  const auto found = m_readers.find(value);
  return found == m_readers.end() ? 0 : found->second;
}

void Translator::wantBatchFirst(const View& view) const {
  if (view.axes.empty() || view.batchAxis() != 0 || view.extents()[0] != kBatch)
    refuse("its input does not have the batch as first axis");
}

}  // namespace loom::onnx_file
