#include "engine/comm/communicator.h"

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"

namespace loom {

const char* CollectiveActivity::lasting(const std::string& text) {
  const std::lock_guard lock(m_mutex);
  return m_texts.insert(text).first->c_str();
}

void Communicator::exchange(std::span<const std::byte> sent, int to, std::span<std::byte> received, int from, int tag) {
  // In every circle of ranks somebody sends to a lower one, and that one receives first.
  if (rank() < to) send(sent, to, tag);
  receive(received, from, tag);
  if (rank() >= to) send(sent, to, tag);
}

namespace {

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() != to.size())
    throwError(ErrorCode::internal, "one rank by itself gathers {} bytes, but there is room for {}", from.size(),
               to.size());
  std::memcpy(to.data(), from.data(), from.size());
}

class SelfCommunicator final : public Communicator {
 public:
  SelfCommunicator() : Communicator(std::make_shared<CollectiveActivity>()) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string name() const override { return "self"; }
  std::unique_ptr<Communicator> split(int, int) override { return std::make_unique<SelfCommunicator>(); }
  void allReduce(std::span<float>) override {}
  void reduceScatter(std::span<const float> data, std::span<float> part) override {
    copy(std::as_bytes(data), std::as_writable_bytes(part));
  }
  void allGather(std::span<const std::byte> mine, std::span<std::byte> all) override { copy(mine, all); }
  void allToAll(std::span<const std::byte> parts, std::span<std::byte> received) override { copy(parts, received); }
  void broadcast(std::span<std::byte>, int) override {}
  void send(std::span<const std::byte> data, int to, int tag) override {
    throwError(ErrorCode::internal, "{} bytes with tag {} are to be sent to rank {}, but there is only one rank",
               data.size(), tag, to);
  }
  void receive(std::span<std::byte> data, int from, int tag) override {
    throwError(ErrorCode::internal, "{} bytes with tag {} are expected from rank {}, but there is only one rank",
               data.size(), tag, from);
  }
  void abort(int) override {}
};

}  // namespace

std::unique_ptr<Communicator> makeSelfCommunicator() {
  return std::make_unique<SelfCommunicator>();
}

std::vector<std::string> allGatherTexts(Communicator& communicator, const std::string& text) {
  const auto size = static_cast<std::size_t>(communicator.size());
  const std::uint64_t mine = text.size();
  std::vector<std::uint64_t> lengths(size);
  communicator.allGather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(lengths)));
  const std::size_t longest = std::max<std::size_t>(*std::max_element(lengths.begin(), lengths.end()), 1);
  std::string padded = text, all(size * longest, '\0');
  padded.resize(longest);
  communicator.allGather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all)));
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < size; ++r) texts.push_back(all.substr(r * longest, lengths[r]));
  return texts;
}

std::string broadcastText(Communicator& communicator, const std::string& text, int root) {
  std::uint64_t length = text.size();
  communicator.broadcast(std::as_writable_bytes(std::span(&length, 1)), root);
  std::string answer = text;
  answer.resize(length);
  if (length > 0) communicator.broadcast(std::as_writable_bytes(std::span(answer)), root);
  return answer;
}

}  // namespace loom
