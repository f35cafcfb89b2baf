#include "tests/engine/cuda/fake/fake_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/error.h"

namespace loom::cuda::fake {
namespace {

constexpr std::size_t kGuard = 256, kAlignment = 256;
constexpr std::size_t kMostKept = std::size_t{64} << 20;  // bytes of released blocks
constexpr unsigned char kGuardByte = 0xcd;
// What stands in memory that a call does not declare, in the first run and in the second: NaNs and -1; ones as
// integers, which as floats are small positive numbers that hardly any arithmetic leaves as they are. No byte is the
// same in both. What a call declares as written alone holds the other, so that a copy of one is not taken for the other
// left alone.
enum class Pattern { minusOnes, ones };
constexpr Pattern kFirst = Pattern::minusOnes, kSecond = Pattern::ones;
constexpr Pattern otherThan(Pattern pattern) {
  return pattern == kFirst ? kSecond : kFirst;
}
std::byte byteOf(Pattern pattern, const std::byte* at) {
  if (pattern == Pattern::minusOnes) return std::byte{0xff};
  return std::byte{reinterpret_cast<std::uintptr_t>(at) % 4 == 0};
}

// Of a long stretch that a call does not declare, either end is overwritten and looked at, and the pieces between that
// hold anything: workspaces of megabytes would take all the time.
constexpr std::size_t kEdge = std::size_t{16} << 10;
constexpr std::size_t kPiece = 4096;

bool isFilled(const std::byte* at, std::size_t bytes, unsigned char value) {
  return bytes == 0 || (std::to_integer<unsigned char>(*at) == value && std::memcmp(at, at + 1, bytes - 1) == 0);
}
void fill(std::byte* at, std::size_t bytes, Pattern pattern) {
  const std::size_t first = std::min<std::size_t>(bytes, 4);
  for (std::size_t i = 0; i < first; ++i) at[i] = byteOf(pattern, at + i);
  for (std::size_t done = first; done < bytes; done *= 2) std::memcpy(at + done, at, std::min(done, bytes - done));
}
// Whether the pattern stands here, as it would at this place.
bool isFilled(const std::byte* at, std::size_t bytes, Pattern pattern, const std::byte* place) {
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes, 4); ++i)
    if (at[i] != byteOf(pattern, place + i)) return false;
  return bytes <= 4 || std::memcmp(at, at + 4, bytes - 4) == 0;
}

std::size_t firstDifference(const std::byte* a, const std::byte* b, std::size_t bytes) {
  return static_cast<std::size_t>(std::mismatch(a, a + bytes, b).first - a);
}

}  // namespace

std::byte* FakeMemory::allocate(std::size_t bytes, std::string_view what) {
  auto block = std::make_unique<Block>();
  block->what = what;
  block->bytes = bytes;
  block->storage.assign(bytes + 2 * kGuard + kAlignment, static_cast<std::byte>(kGuardByte));
  const auto begin = reinterpret_cast<std::uintptr_t>(block->storage.data()) + kGuard;
  block->data = block->storage.data() + kGuard + (kAlignment - begin % kAlignment) % kAlignment;
  fill(block->data, bytes, kFirst);
  block->written.assign(bytes, std::byte{0});
  block->touched.assign(bytes / kPiece + 1, false);
  std::byte* const data = block->data;
  m_used += bytes;
  m_blocks[data] = std::move(block);
  return data;
}

void FakeMemory::release(const std::byte* at) {
  const auto found = m_blocks.find(at);
  if (found == m_blocks.end())
    throwError(ErrorCode::internal, "memory is released that was never allocated, or is released twice");
  Block& block = *found->second;
  m_used -= block.bytes;
  m_kept += block.bytes;
  block.written.clear();
  m_released.push_back(std::move(found->second));
  m_blocks.erase(found);
  while (m_kept > kMostKept) {
    m_kept -= m_released.front()->bytes;
    m_released.erase(m_released.begin());
  }
}

std::size_t FakeMemory::bytesOf(const std::byte* at) const {
  const auto found = m_blocks.find(at);
  return found == m_blocks.end() ? 0 : found->second->bytes;
}

std::vector<std::string> FakeMemory::names() const {
  std::vector<std::string> all;
  for (const auto& [at, block] : m_blocks) all.push_back(block->what);
  return all;
}

void FakeMemory::expectWithin(const Access& access, const std::string& who) const {
  const auto next = m_blocks.upper_bound(access.data);
  if (next != m_blocks.begin()) {
    const Block& block = *std::prev(next)->second;
    const auto offset = static_cast<std::size_t>(access.data - block.data);
    if (offset < block.bytes || (offset == block.bytes && access.bytes == 0)) {
      if (access.bytes <= block.bytes - offset) return;
      throwError(ErrorCode::internal, "{} reaches {} bytes at byte {} of '{}', which has {}", who, access.bytes, offset,
                 block.what, block.bytes);
    }
  }
  for (const auto& block : m_released)
    if (access.data >= block->data && access.data < block->data + block->bytes)
      throwError(ErrorCode::internal, "{} reaches byte {} of '{}', which was released", who, access.data - block->data,
                 block->what);
  throwError(ErrorCode::internal, "{} reaches {} bytes outside of all allocated memory", who, access.bytes);
}

std::vector<FakeMemory::Segment> FakeMemory::segmentsOf(std::span<const Access> accesses) {
  std::vector<Segment> segments;
  std::size_t saved = 0;
  for (auto& [begin, owned] : m_blocks) {
    Block& block = *owned;
    std::byte* const first = block.storage.data();
    std::byte* const last = first + block.storage.size();
    std::vector<const std::byte*> cuts{first, last};
    std::vector<const Access*> inside;
    for (const Access& access : accesses) {
      if (access.bytes == 0 || access.data < first || access.data >= last) continue;
      inside.push_back(&access);
      cuts.push_back(access.data);
      cuts.push_back(access.data + access.bytes);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
      Segment segment{.block = &block, .at = first + (cuts[k] - first)};
      segment.bytes = static_cast<std::size_t>(cuts[k + 1] - cuts[k]);
      for (const Access* access : inside)
        if (access->data <= segment.at && segment.at < access->data + access->bytes)
          (access->write ? segment.writes : segment.reads) = true;
      const auto add = [&](std::size_t begin, std::size_t bytes) {
        segments.push_back(segment);
        segments.back().at += begin;
        segments.back().bytes = bytes;
        segments.back().saved = saved;
        saved += bytes;
      };
      if (segment.reads || segment.writes || segment.bytes <= 2 * kEdge) {
        add(0, segment.bytes);
        continue;
      }
      for (std::size_t begin = 0; begin < segment.bytes;) {
        const bool looked = isLookedAt(block, segment.at + begin, segment);
        std::size_t end = begin;
        while (end < segment.bytes && isLookedAt(block, segment.at + end, segment) == looked)
          end = std::min(end + kPiece, segment.bytes);
        if (looked) add(begin, end - begin);
        begin = end;
      }
    }
  }
  return segments;
}

// Of a piece that begins here and reaches into two of the block's.
bool FakeMemory::isLookedAt(const Block& block, const std::byte* at, const Segment& within) {
  const auto before = static_cast<std::size_t>(at - within.at), behind = within.bytes - before;
  if (before < kEdge || behind <= kEdge + kPiece) return true;
  const auto piece = static_cast<std::size_t>(at - block.data) / kPiece;
  return block.touched[piece] || block.touched[std::min(piece + 1, block.touched.size() - 1)];
}

std::string FakeMemory::nameOf(const Block& block, const std::byte* at) const {
  if (at < block.data) return fmt::format("{} bytes before '{}'", block.data - at, block.what);
  const auto offset = static_cast<std::size_t>(at - block.data);
  if (offset >= block.bytes) return fmt::format("{} bytes behind '{}'", offset - block.bytes, block.what);
  return fmt::format("byte {} of '{}'", offset, block.what);
}

void FakeMemory::markWritten(const Segment& segment) {
  if (segment.bytes == 0) return;
  const auto offset = static_cast<std::size_t>(segment.at - segment.block->data);
  std::memset(segment.block->written.data() + offset, 1, segment.bytes);
  for (std::size_t piece = offset / kPiece; piece <= (offset + segment.bytes - 1) / kPiece; ++piece)
    segment.block->touched[piece] = true;
}

void FakeMemory::expectWritten(const Segment& segment, const std::string& who) const {
  const auto* const first = segment.block->written.data() + (segment.at - segment.block->data);
  const auto* const found = std::find(first, first + segment.bytes, std::byte{0});
  if (found != first + segment.bytes)
    throwError(ErrorCode::internal, "{} reads {}, which nobody has written", who,
               nameOf(*segment.block, segment.at + (found - first)));
}

// Runs it with the pattern in all that it does not declare as read; what it does not declare as written must be as
// before.
void FakeMemory::pass(const std::vector<Segment>& segments, const std::string& who, const Work& work, bool backwards,
                      int which) {
  const Pattern pattern = which == 0 ? kFirst : kSecond;
  for (const Segment& segment : segments) {
    if (segment.reads)
      std::memcpy(segment.at, m_saved.data() + segment.saved, segment.bytes);
    else
      fill(segment.at, segment.bytes, segment.writes ? otherThan(pattern) : pattern);
  }
  work(backwards);
  for (const Segment& segment : segments) {
    if (segment.writes) continue;
    const std::byte* const saved = m_saved.data() + segment.saved;
    if (segment.reads && std::memcmp(segment.at, saved, segment.bytes) != 0)
      throwError(ErrorCode::internal, "{} writes {}, which it declares as read alone", who,
                 nameOf(*segment.block, segment.at + firstDifference(segment.at, saved, segment.bytes)));
    if (segment.reads || isFilled(segment.at, segment.bytes, pattern, segment.at)) continue;
    const std::byte* found = segment.at;
    while (*found == byteOf(pattern, found)) ++found;
    throwError(ErrorCode::internal, "{} writes {}, which it does not declare", who, nameOf(*segment.block, found));
  }
}

// m_first holds what the first pass wrote, memory what the second did.
void FakeMemory::compare(const std::vector<Segment>& segments, const std::string& who, const Work& work) {
  for (const Segment& segment : segments) {
    if (!segment.writes) continue;
    for (std::size_t at = 0; at < segment.bytes; at += kPiece) {
      Segment piece = segment;
      piece.at += at;
      piece.saved += at;
      piece.bytes = std::min(kPiece, segment.bytes - at);
      const std::byte* const first = m_first.data() + piece.saved;
      if (std::memcmp(first, piece.at, piece.bytes) == 0)
        markWritten(piece);
      else if (!piece.reads && isFilled(first, piece.bytes, otherThan(kFirst), piece.at) &&
               isFilled(piece.at, piece.bytes, otherThan(kSecond), piece.at))
        std::memcpy(piece.at, m_saved.data() + piece.saved, piece.bytes);
      else
        comparePiece(piece, segments, who, work);
    }
  }
}

void FakeMemory::comparePiece(const Segment& piece, const std::vector<Segment>& segments, const std::string& who,
                              const Work& work) {
  const std::byte* const first = m_first.data() + piece.saved;
  for (std::size_t i = 0; i < piece.bytes; ++i) {
    const bool untouched = !piece.reads && first[i] == byteOf(otherThan(kFirst), piece.at + i) &&
                           piece.at[i] == byteOf(otherThan(kSecond), piece.at + i);
    if (untouched) {
      piece.at[i] = m_saved[piece.saved + i];
    } else if (first[i] == piece.at[i]) {
      Segment one = piece;
      one.at += i;
      one.bytes = 1;
      markWritten(one);
    } else {
      const std::byte mine = first[i];
      const std::string name = nameOf(*piece.block, piece.at + i);
      pass(segments, who, work, false, 1);
      throwError(ErrorCode::internal, "{} writes {} with what depends on {}", who, name,
                 piece.at[i] == mine ? "the order of threads or blocks: is a barrier missing?"
                                     : "memory that it does not declare as read");
    }
  }
}

void FakeMemory::runChecked(const std::string& who, std::span<const Access> accesses, const Work& work) {
  for (const Access& access : accesses) expectWithin(access, who);
  const std::vector<Segment> segments = segmentsOf(accesses);
  for (const Segment& segment : segments)
    if (segment.reads) expectWritten(segment, who);
  const std::size_t total = segments.empty() ? 0 : segments.back().saved + segments.back().bytes;
  m_saved.resize(total);
  m_first.resize(total);
  for (const Segment& segment : segments) std::memcpy(m_saved.data() + segment.saved, segment.at, segment.bytes);
  const auto restore = [&](bool all) {
    for (const Segment& segment : segments)
      if (all || !segment.writes) std::memcpy(segment.at, m_saved.data() + segment.saved, segment.bytes);
  };
  try {
    pass(segments, who, work, false, 0);
    for (const Segment& segment : segments)
      if (segment.writes) std::memcpy(m_first.data() + segment.saved, segment.at, segment.bytes);
    pass(segments, who, work, true, 1);
    compare(segments, who, work);
  } catch (...) {
    restore(true);
    throw;
  }
  restore(false);
}

void FakeMemory::runPlainly(const std::string& who, std::span<const Access> accesses, const Work& work) {
  for (const Access& access : accesses) {
    expectWithin(access, who);
    if (access.write || access.bytes == 0) continue;
    Block& block = *std::prev(m_blocks.upper_bound(access.data))->second;
    expectWritten({&block, block.data + (access.data - block.data), access.bytes}, who);
  }
  work(false);
  for (const auto& [begin, block] : m_blocks) {
    const std::byte* const behind = block->data + block->bytes;
    const std::byte* const first = block->storage.data();
    if (!isFilled(first, static_cast<std::size_t>(block->data - first), kGuardByte) ||
        !isFilled(behind, static_cast<std::size_t>(first + block->storage.size() - behind), kGuardByte))
      throwError(ErrorCode::internal, "{} writes outside of '{}'", who, block->what);
  }
  for (const Access& access : accesses) {
    if (!access.write || access.bytes == 0) continue;
    Block& block = *std::prev(m_blocks.upper_bound(access.data))->second;
    markWritten({&block, block.data + (access.data - block.data), access.bytes});
  }
}

}  // namespace loom::cuda::fake
