#include "widgets/theme/compositing.h"

#include <QGuiApplication>

#ifdef GRADLOOM_XCB
#include <xcb/xcb.h>

#include <cstdlib>
#include <memory>
#endif

namespace loom {

#ifdef GRADLOOM_XCB
namespace {

constexpr char kCompositor[] =
    "_NET_WM_CM_S0";  // a compositing manager owns this selection (Extended Window Manager Hints)

template <class T>
using Reply = std::unique_ptr<T, decltype(&std::free)>;

}  // namespace

bool isComposited() {
  const auto* const x11 = qGuiApp->nativeInterface<QNativeInterface::QX11Application>();
  if (!x11 || !x11->connection()) return true;
  xcb_connection_t* const connection = x11->connection();
  const Reply<xcb_intern_atom_reply_t> atom(
      xcb_intern_atom_reply(connection, xcb_intern_atom(connection, 0, sizeof kCompositor - 1, kCompositor), nullptr),
      &std::free);
  if (!atom) return true;
  const Reply<xcb_get_selection_owner_reply_t> owner(
      xcb_get_selection_owner_reply(connection, xcb_get_selection_owner(connection, atom->atom), nullptr), &std::free);
  return owner && owner->owner != XCB_NONE;
}
#else
bool isComposited() {
  return true;
}
#endif

}  // namespace loom
