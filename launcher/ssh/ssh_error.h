#pragma once
// Why a host is not reached, told apart by what can be done about it.
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
  SshError(SshFault fault, const std::string& message)
      : Error(ErrorCode::communication, shownText(message)), m_fault(fault) {}
  SshFault fault() const { return m_fault; }

 private:
  SshFault m_fault;
};

}  // namespace loom
