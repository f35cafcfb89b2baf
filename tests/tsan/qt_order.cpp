// What Qt orders between threads, told to ThreadSanitizer. Debian's Qt is not compiled for it: a call that goes through
// an event queue to another thread, a QThread that ends, a QWaitCondition looks to it as if nothing stood between the
// two threads. The functions below stand in front of those of Qt that our code calls, say what Qt guarantees of them,
// and call Qt. Linked into tests with GRADLOOM_SANITIZE=thread only; written for Qt 6.4, whose private parts it names.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <sched.h>
#include <unistd.h>

#include <QDeadlineTimer>
#include <QMutex>
#include <QObject>
#include <QThread>
#include <QWaitCondition>
#include <cstdarg>

// What these libraries do inside themselves (events that one thread makes and another deletes) is theirs, and cannot be
// seen whole from outside: memory and files are looked at only where our own code, or the standard library on its
// behalf, touches them.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libQt6Core.so\n"
         "called_from_lib:libglib-2.0.so\n";
}

namespace {

// The function of Qt itself, behind the one of its name here.
template <class Function>
Function* original(const char* mangled) {
  void* const found = dlsym(RTLD_NEXT, mangled);
  if (!found) {
    constexpr char kText[] = "tests/tsan/qt_order.cpp: this Qt has other private functions than 6.4; name them there\n";
    [[maybe_unused]] const auto written = ::write(2, kText, sizeof kText - 1);
    _exit(70);
  }
  return reinterpret_cast<Function*>(found);
}

// Signals that are being sent, counted by sender. A queued one copies its arguments before its event is posted and
// within activate(), so that the receiver may be called while activate() still runs: it waits for its end, and what
// happened within it is then ordered too. Nothing here may order threads by itself, or it would hide races: it is not
// seen by ThreadSanitizer.
constexpr std::size_t kSenders = 1024;  // a few that share a place only wait a little longer
int sending[kSenders];
thread_local int sendingHere[kSenders];

std::size_t placeOf(const void* sender) {
  return reinterpret_cast<std::uintptr_t>(sender) / 16 % kSenders;
}

__attribute__((no_sanitize_thread)) void count(const void* sender, int step) {
  sendingHere[placeOf(sender)] += step;
  __atomic_fetch_add(&sending[placeOf(sender)], step, __ATOMIC_SEQ_CST);
}

__attribute__((no_sanitize_thread)) bool sentElsewhere(const void* sender) {
  return __atomic_load_n(&sending[placeOf(sender)], __ATOMIC_SEQ_CST) > sendingHere[placeOf(sender)];
}

// Stands before a slot. Posting and connecting release it, the call acquires it. `sender` is null for an invokeMethod.
class OrderedSlot final : public QtPrivate::QSlotObjectBase {
 public:
  OrderedSlot(QSlotObjectBase* slot, const void* sender) : QSlotObjectBase(&act), m_slot(slot), m_sender(sender) {
    __tsan_release(this);
  }

 private:
  static void act(int what, QSlotObjectBase* base, QObject* receiver, void** arguments, bool* same) {
    auto* const self = static_cast<OrderedSlot*>(base);
    if (what == Compare) {
      *same = self->m_slot->compare(arguments);
      return;
    }
    __tsan_acquire(self);
    if (what == Destroy) {
      self->m_slot->destroyIfLastRef();
      delete self;
    } else if (what == Call) {
      if (self->m_sender) self->awaitSender();
      self->m_slot->call(receiver, arguments);
      __tsan_release(self);  // whoever disconnects or waited for it
    }
  }

  void awaitSender() {
    // Not for ever: a sender may wait for its receiver.
    for (int looks = 0; sentElsewhere(m_sender) && looks < 2000; ++looks) ::usleep(100);
    __tsan_acquire(const_cast<void*>(m_sender));
  }

  QSlotObjectBase* const m_slot;
  const void* const m_sender;
};

// Lives on a thread and dies with what else is deleted at its end.
class LastWord final : public QObject {
 public:
  explicit LastWord(QThread* thread) : m_thread(thread) {}
  ~LastWord() override { __tsan_release(m_thread); }

 private:
  QThread* const m_thread;
};

}  // namespace

bool QMetaObject::invokeMethodImpl(QObject* object, QtPrivate::QSlotObjectBase* slot, Qt::ConnectionType type,
                                   void* result) {
  static const auto qt = original<bool(QObject*, QtPrivate::QSlotObjectBase*, Qt::ConnectionType, void*)>(
      "_ZN11QMetaObject16invokeMethodImplEP7QObjectPN9QtPrivate15QSlotObjectBaseEN2Qt14ConnectionTypeEPv");
  auto* const ordered = new OrderedSlot(slot, nullptr);
  if (type != Qt::BlockingQueuedConnection) return qt(object, ordered, type, result);
  ordered->ref();
  const bool done = qt(object, ordered, type, result);
  __tsan_acquire(ordered);
  ordered->destroyIfLastRef();
  return done;
}

QMetaObject::Connection QObject::connectImpl(const QObject* sender, void** signal, const QObject* receiver,
                                             void** method, QtPrivate::QSlotObjectBase* slot, Qt::ConnectionType type,
                                             const int* types, const QMetaObject* meta) {
  static const auto qt = original<QMetaObject::Connection(const QObject*, void**, const QObject*, void**,
                                                          QtPrivate::QSlotObjectBase*, Qt::ConnectionType, const int*,
                                                          const QMetaObject*)>(
      "_ZN7QObject11connectImplEPKS_PPvS1_S3_PN9QtPrivate15QSlotObjectBaseEN2Qt14ConnectionTypeEPKiPK11QMetaObject");
  return qt(sender, signal, receiver, method, new OrderedSlot(slot, sender), type, types, meta);
}

void QMetaObject::activate(QObject* sender, const QMetaObject* meta, int signal, void** arguments) {
  static const auto qt =
      original<void(QObject*, const QMetaObject*, int, void**)>("_ZN11QMetaObject8activateEP7QObjectPKS_iPPv");
  count(sender, 1);
  qt(sender, meta, signal, arguments);
  // A slot may have deleted the sender: only its address is used.
  __tsan_release(sender);
  count(sender, -1);
}

void QThread::start(Priority priority) {
  static const auto qt = original<void(QThread*, Priority)>("_ZN7QThread5startENS_8PriorityE");
  auto* const last = new LastWord(this);
  last->moveToThread(this);
  // After all that our code connected before it started the thread.
  QObject::connect(this, &QThread::finished, last, &QObject::deleteLater);
  qt(this, priority);
}

// The thread comes to its end after what was done before it was asked to: what ends there hears of it by finished().
void QThread::quit() {
  static const auto qt = original<void(QThread*)>("_ZN7QThread4quitEv");
  __tsan_release(this);
  qt(this);
}

bool QThread::wait(QDeadlineTimer deadline) {
  static const auto qt = original<bool(QThread*, QDeadlineTimer)>("_ZN7QThread4waitE14QDeadlineTimer");
  const bool ended = qt(this, deadline);
  if (ended) __tsan_acquire(this);
  return ended;
}

// QMutex tells of itself where it is used (Qt's own header for ThreadSanitizer), but not that it is free while a
// condition is waited for.
bool QWaitCondition::wait(QMutex* mutex, QDeadlineTimer deadline) {
  static const auto qt =
      original<bool(QWaitCondition*, QMutex*, QDeadlineTimer)>("_ZN14QWaitCondition4waitEP6QMutex14QDeadlineTimer");
  QtTsan::mutexPreUnlock(mutex, 0);
  QtTsan::mutexPostUnlock(mutex, 0);
  const bool woken = qt(this, mutex, deadline);
  QtTsan::mutexPreLock(mutex, 0);
  QtTsan::mutexPostLock(mutex, 0, 0);
  return woken;
}

// QProcess starts programs with clone(CLONE_VM | CLONE_VFORK). ThreadSanitizer takes the short life of that child for a
// fork and, as the child shares this memory, ends up ignoring all that the calling thread does ever after. So it is not
// told.
extern "C" int clone(int (*child)(void*), void* stack, int flags, void* argument, ...) noexcept {
  static const auto plain =
      reinterpret_cast<decltype(&clone)>(dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "clone"));
  va_list more;
  va_start(more, argument);
  auto* const parentId = va_arg(more, pid_t*);
  auto* const tls = va_arg(more, void*);
  auto* const childId = va_arg(more, pid_t*);
  va_end(more);
  return plain(child, stack, flags, argument, parentId, tls, childId);
}
