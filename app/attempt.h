#pragma once
// What a person asked for may be refused by an Error. No exception may pass through Qt's event loop, so a slot asks
// this way.
#include <QString>

#include "engine/base/error.h"

namespace loom {

// Does it. The sentence of the Error that it throws; empty when all went well.
template <class Act>
QString attempt(const Act& act) {
  try {
    act();
    return {};
  } catch (const Error& error) {
    return QString::fromStdString(error.what());
  }
}

}  // namespace loom
