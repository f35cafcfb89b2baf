#include "engine/loom/bench/allreduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/comm/reductions/host_reduction.h"
#include "engine/comm/reductions/links.h"

namespace loom {
namespace {

constexpr int kLeastTimes = 5, kMostTimes = 1000;

struct Figure {
  std::string reduction;
  std::int64_t bytes = 0;
  double seconds = 0, predicted = 0;
  ReductionCost cost;
};

class Sweep {
 public:
  Sweep(const AllReduceArguments& arguments, Communicator& communicator)
      : m_communicator(communicator), m_wire(wireNamed(arguments.wire)), m_bytes(arguments.bytes) {
    if (communicator.size() == 1)
      throwError(ErrorCode::badArgument,
                 "bench allreduce measures what several ranks do together: mpirun -n 4 loom bench allreduce");
    if (m_bytes.empty())
      for (std::int64_t bytes = 4 << 10; bytes <= 64 << 20; bytes *= 4) m_bytes.push_back(bytes);
    std::sort(m_bytes.begin(), m_bytes.end());
    for (const ReductionDefinition* row : reductionTable()) {
      const auto& wanted = arguments.reductions;
      const bool named = std::find(wanted.begin(), wanted.end(), row->entry.id) != wanted.end();
      const auto refusal = refusalOf({row->entry.id}, communicator.size(), m_wire, false);
      if (named && refusal) throwError(ErrorCode::badArgument, "{}", refusal->text);
      if (named || (wanted.empty() && !refusal)) m_rows.push_back(row);
    }
    for (const std::string& name : arguments.reductions) reductionOf({name}, m_wire, false);  // throws for unknown ones
    m_links = measureLinks(communicator, machineOfRank());
    m_secondsEach = arguments.seconds / static_cast<double>(m_rows.size());
  }

  const MeasuredLinks& links() const { return m_links; }
  const std::vector<const ReductionDefinition*>& rows() const { return m_rows; }
  const std::vector<std::int64_t>& bytes() const { return m_bytes; }

  Figure measure(const ReductionDefinition& row, std::int64_t bytes) {
    const ReductionShape shape{.ranks = m_communicator.size(),
                               .floats = static_cast<std::size_t>(bytes / 4),
                               .wire = m_wire,
                               .shards = m_communicator.size(),
                               .perHost = m_links.perHost,
                               .links = m_links.links};
    const std::unique_ptr<Reduction> reduction = row.make(m_communicator, shape);
    std::vector<float> sum(shape.floats, 1.0f), values(shape.floats, 1.0f);
    const std::vector<std::span<float>> tensors{values};
    const auto once = [&] {
      if (reduction->addsShards()) reduction->add(m_communicator.rank(), tensors, sum);
      const auto begin = std::chrono::steady_clock::now();
      reduction->finish(sum);
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    once();  // connections and buffers are made
    double first = once();
    m_communicator.broadcast(std::as_writable_bytes(std::span(&first, 1)), 0);
    const int times = std::clamp(static_cast<int>(m_secondsEach / std::max(first, 1e-6)), kLeastTimes, kMostTimes);
    std::vector<double> taken;
    for (int i = 0; i < times; ++i) {
      std::fill(sum.begin(), sum.end(), 1.0f);
      taken.push_back(once());
    }
    std::nth_element(taken.begin(), taken.begin() + times / 2, taken.end());
    return {row.entry.id, bytes, taken[static_cast<std::size_t>(times / 2)], secondsOf(row, shape), costOf(row, shape)};
  }

 private:
  Communicator& m_communicator;
  Wire m_wire;
  std::vector<std::int64_t> m_bytes;
  std::vector<const ReductionDefinition*> m_rows;
  MeasuredLinks m_links;
  double m_secondsEach = 0;
};

std::string sizeText(std::int64_t bytes) {
  return bytes >= 1 << 20 && bytes % (1 << 20) == 0   ? fmt::format("{} MiB", bytes >> 20)
         : bytes >= 1 << 10 && bytes % (1 << 10) == 0 ? fmt::format("{} KiB", bytes >> 10)
                                                      : fmt::format("{} B", bytes);
}

// As nccl-tests count: bytes a second of the sum, and those of a link that a ring would use as fully.
void printCsv(const std::vector<Figure>& figures, int ranks) {
  for (const Figure& figure : figures) {
    const double algorithm = static_cast<double>(figure.bytes) / figure.seconds;
    fmt::print("{},{},{},{:.9f},{:.9f},{},{},{},{:.0f},{:.0f}\n", figure.reduction, ranks, figure.bytes, figure.seconds,
               figure.predicted, figure.cost.steps, figure.cost.bytes, figure.cost.total, algorithm,
               algorithm * 2 * (ranks - 1) / ranks);
  }
}

// Flushed line by line, so that whoever waits sees how far it is.
void printJson(const Json& line) {
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

void printJsonHead(const Sweep& sweep, const AllReduceArguments& arguments, const Communicator& communicator) {
  const auto link = [](const Link& each) { return Json{{"delay", each.delay}, {"bandwidth", each.bandwidth}}; };
  const MeasuredLinks& measured = sweep.links();
  Json head = {{"ranks", communicator.size()}, {"communicator", communicator.name()},
               {"wire", arguments.wire},       {"per_host", measured.perHost},
               {"sizes", sweep.bytes()},       {"reductions", Json::array()}};
  if (measured.perHost != 1) head["within"] = link(measured.links.within);
  if (measured.perHost != 0) head["between"] = link(measured.links.between);
  for (const ReductionDefinition* row : sweep.rows())
    head["reductions"].push_back({{"name", row->entry.id}, {"label", row->entry.label}});
  printJson(head);
}

Json toJson(const Figure& figure) {
  return {{"reduction", figure.reduction}, {"bytes", figure.bytes},           {"seconds", figure.seconds},
          {"predicted", figure.predicted}, {"sent_bytes", figure.cost.bytes}, {"total_bytes", figure.cost.total}};
}

// Times in microseconds; the least is marked.
void printLine(const std::vector<Figure>& figures) {
  const auto least = std::min_element(figures.begin(), figures.end(),
                                      [](const Figure& a, const Figure& b) { return a.seconds < b.seconds; });
  fmt::print("{:>10}", sizeText(figures.front().bytes));
  for (auto figure = figures.begin(); figure != figures.end(); ++figure)
    fmt::print("{:>18}", fmt::format("{:.1f}{}", figure->seconds * 1e6, figure == least ? "*" : " "));
  fmt::print("\n");
}

void printHead(const Sweep& sweep, const AllReduceArguments& arguments, const Communicator& communicator) {
  if (arguments.json) return printJsonHead(sweep, arguments, communicator);
  if (arguments.csv) {
    fmt::print("reduction,ranks,bytes,seconds,predicted_seconds,steps,sent_bytes,total_bytes,algbw,busbw\n");
    return;
  }
  const Links& links = sweep.links().links;
  const int perHost = sweep.links().perHost;
  fmt::print("{} ranks, {}, {} on the wire; microseconds, * the least\n", communicator.size(), communicator.name(),
             arguments.wire);
  if (perHost != 1)
    fmt::print("within a host: {:.1f} us, {:.2f} GB/s one way\n", links.within.delay * 1e6,
               links.within.bandwidth * 1e-9);
  if (perHost != 0)
    fmt::print("between hosts: {:.1f} us, {:.2f} GB/s one way\n", links.between.delay * 1e6,
               links.between.bandwidth * 1e-9);
  fmt::print("{:>10}", "");
  for (const ReductionDefinition* row : sweep.rows()) fmt::print("{:>17} ", row->entry.id);
  fmt::print("\n");
}

}  // namespace

int benchAllReduce(const AllReduceArguments& arguments, Communicator& communicator) {
  Sweep sweep(arguments, communicator);
  const bool first = communicator.rank() == 0;
  if (first) printHead(sweep, arguments, communicator);
  for (const std::int64_t bytes : sweep.bytes()) {
    std::vector<Figure> figures;
    for (const ReductionDefinition* row : sweep.rows()) {
      figures.push_back(sweep.measure(*row, bytes));
      if (first && arguments.json) printJson(toJson(figures.back()));
    }
    if (first && !arguments.json) arguments.csv ? printCsv(figures, communicator.size()) : printLine(figures);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace loom
