#pragma once
// A GPU's memory on the host: blocks between guard zones that know which of their bytes were ever written, and what a
// call may reach of them.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cuda/calls.h"

namespace loom::cuda::fake {

class FakeMemory {
 public:
  std::byte* allocate(std::size_t bytes, std::string_view what);
  // Throws Error(internal) for what was never allocated, or released before. Its addresses stay out of use for long.
  void release(const std::byte* at);

  std::size_t bytesOf(const std::byte* at) const;  // of the block that begins here; 0: none does

  std::size_t used() const { return m_used; }
  std::size_t blocks() const { return m_blocks.size(); }
  std::vector<std::string> names() const;  // of the blocks that there are

  // Throws Error(internal) unless all of this lies within one block; `who` reaches for it.
  void expectWithin(const Access& access, const std::string& who) const;

  // Runs a call that reaches what it declares: twice, in both directions, with all else overwritten by two different
  // patterns. Throws Error(internal) for a byte that it writes and did not declare, for one that it declares as read
  // and nobody ever wrote, and for one that differs between the runs: it depends on what the call did not declare as
  // read, or on the order of threads. What it declares as written and leaves alone is as before.
  using Work = std::function<void(bool backwards)>;
  void runChecked(const std::string& who, std::span<const Access> accesses, const Work& work);
  // Once, in place; looks at guard zones, and whether what is read was written.
  void runPlainly(const std::string& who, std::span<const Access> accesses, const Work& work);

 private:
  struct Block {
    std::string what;
    std::size_t bytes = 0;
    std::vector<std::byte> storage;  // with the guard zones
    std::byte* data = nullptr;
    std::vector<std::byte> written;  // by byte: 1
    std::vector<bool> touched;       // by piece: any of it was
  };
  struct Segment {
    Block* block = nullptr;
    std::byte* at = nullptr;
    std::size_t bytes = 0;
    bool reads = false, writes = false;
    std::size_t saved = 0;  // where it stands in m_saved
  };
  std::vector<Segment> segmentsOf(std::span<const Access> accesses);
  static void markWritten(const Segment& segment);
  static bool isLookedAt(const Block& block, const std::byte* at, const Segment& within);
  void expectWritten(const Segment& segment, const std::string& who) const;
  void pass(const std::vector<Segment>& segments, const std::string& who, const Work& work, bool backwards, int which);
  void compare(const std::vector<Segment>& segments, const std::string& who, const Work& work);
  void comparePiece(const Segment& piece, const std::vector<Segment>& segments, const std::string& who,
                    const Work& work);
  std::string nameOf(const Block& block, const std::byte* at) const;

  std::map<const std::byte*, std::unique_ptr<Block>> m_blocks;  // by the begin of their data
  std::vector<std::unique_ptr<Block>> m_released;
  std::size_t m_used = 0, m_kept = 0;
  std::vector<std::byte> m_saved, m_first;
};

}  // namespace loom::cuda::fake
