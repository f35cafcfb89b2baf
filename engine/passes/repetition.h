#pragma once
// The inside of recomputeWithin(): a program as units, each computed by a backend in one pass, and what becomes of time
// and memory when some units of the forward part are repeated where the backward part needs them.
#include <vector>

#include "engine/passes/fusion.h"
#include "engine/program/program.h"

namespace loom {

struct Unit {
  std::vector<int> operations;          // ascending
  std::vector<TensorId> reads, writes;  // what comes from outside; what others read
  std::vector<TensorId> reusable;       // of `reads`: whose memory the first of `writes` may take
  std::vector<TensorId> again;          // of `writes`: what a repetition gives again; empty: it cannot be repeated
  std::vector<TensorId> readsAgain;     // what a repetition reads
  bool late = false;                    // of the backward part, or behind its first operation
  bool isView = false;                  // repeated exactly where what it is a view of is
  double bytes = 0;                     // of `again`
  double cost = 0;                      // of a repetition, in multiply-adds: see the source for memory's share
};

class Repetition {
 public:
  using Chosen = std::vector<bool>;  // by unit: repeated instead of kept

  Repetition(const Program& program, const Fusion& fusion);

  const std::vector<Unit>& units() const { return m_units; }
  // The last unit of the forward part that reads something of this one's `again`, through views; -1 where none does.
  int lastReader(int unit) const { return m_lastReader[static_cast<std::size_t>(unit)]; }
  // Whether the backward part reads something of it, through views.
  bool isReadLate(int unit) const { return m_readLate[static_cast<std::size_t>(unit)]; }

  struct Outlook {
    double peak = 0;  // bytes alive at once, row-major
    double cost = 0;  // of what is repeated
  };
  Outlook outlook(const Chosen& chosen) const;
  // The program with the repetitions in it, each in front of what first reads it.
  Program rewritten(const Chosen& chosen) const;

 private:
  struct Step {
    int unit;
    bool again;
  };
  void findUnits(const Fusion& fusion);
  void describe(Unit& unit) const;
  void keepSmall(Unit& unit) const;
  void findReaders();
  Chosen effective(const Chosen& chosen) const;
  std::vector<Step> order(const Chosen& effective) const;
  void require(TensorId id, const Chosen& effective, std::vector<bool>& done, std::vector<Step>& steps) const;
  bool isRepeated(TensorId id, const Chosen& effective) const {
    const int unit = m_repeatedBy[static_cast<std::size_t>(id)];
    return unit >= 0 && effective[static_cast<std::size_t>(unit)];
  }
  const Unit& unit(int index) const { return m_units[static_cast<std::size_t>(index)]; }

  const Program& m_program;
  std::vector<int> m_unitOf;      // by operation
  std::vector<int> m_producer;    // by tensor: the operation; -1: none
  std::vector<double> m_bytes;    // by tensor; 0 where it is not in the arena
  std::vector<bool> m_changing;   // by tensor: changed in place
  std::vector<bool> m_isResult;   // by tensor
  std::vector<Unit> m_units;      // in the order of their first operations
  std::vector<int> m_repeatedBy;  // by tensor: the unit that can give it again; -1: none
  std::vector<int> m_lastReader;  // by unit
  std::vector<bool> m_readLate;   // by unit
};

}  // namespace loom
