#pragma once
// Why a host is not reached, told apart by what can be done about it.
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/foreign.h"

namespace loom {

// What a retry can hope for.
enum class SshFault {
  unreachable,  // no way there now: worth another try
  hostKey,      // the key is not the one that is known, or was declined: only a person may go on
  signIn,       // not let in, or an answer is needed that nobody was asked for
  refused,      // the far side will not do it
};

class SshError : public Error {
 public:
  // Most of these sentences hold words of the far side.
  // `remedy`: the command that mends it; empty = none is known here.
  SshError(SshFault fault, const std::string& message, std::string remedy = {})
      : Error(ErrorCode::communication, shownText(message)), m_fault(fault), m_remedy(std::move(remedy)) {}
  SshFault fault() const { return m_fault; }
  const std::string& remedy() const { return m_remedy; }

 private:
  SshFault m_fault;
  std::string m_remedy;
};

}  // namespace loom
