#include "launcher/door/terminal.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t g_came = 0;
struct sigaction g_before[3];

// The terminal itself, whatever standard input and output are.
class Tty {
 public:
  Tty() : m_file(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {}
  ~Tty() {
    if (m_hidden) ::tcsetattr(m_file, TCSAFLUSH, &m_before);
    if (m_file >= 0) ::close(m_file);
  }
  bool isThere() const { return m_file >= 0; }
  void hide() {
    if (::tcgetattr(m_file, &m_before) != 0) return;
    termios quiet = m_before;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    quiet.c_lflag |= ECHONL;
    m_hidden = ::tcsetattr(m_file, TCSAFLUSH, &quiet) == 0;
  }
  void say(const QString& text) {
    const QByteArray bytes = text.toLocal8Bit();
    [[maybe_unused]] const auto put = ::write(m_file, bytes.constData(), static_cast<std::size_t>(bytes.size()));
  }
  // A line; nothing after Ctrl+C or Ctrl+D.
  std::optional<QString> line() {
    QByteArray text;
    for (char c = 0; text.size() < 4096;) {
      const ssize_t got = ::read(m_file, &c, 1);
      if (got <= 0) {
        text.fill('\0');
        return {};
      }
      if (c == '\n') break;
      text += c;
    }
    QString answer = QString::fromLocal8Bit(text);
    text.fill('\0');
    return answer;
  }

 private:
  int m_file;
  bool m_hidden = false;
  termios m_before{};
};

}  // namespace

std::optional<QString> askOnTerminal(const SshQuestion& question) {
  Tty tty;
  const bool key = question.kind == SshQuestion::Kind::newHostKey;
  if (!tty.isThere())
    throwError(
        ErrorCode::badArgument, "{} asks for {}, and there is no terminal to answer on: {}",
        question.host.toStdString(),
        key ? "a word on its new host key" : "a password or code (" + question.text.trimmed().toStdString() + ")",
        key ? "sign in once with ssh, so that the key is known"
            : "sign in with a key or an agent, or run this on a terminal");
  if (key) {
    tty.say(QStringLiteral("\r\033[K%1 is not known yet; its key is %2.\n").arg(question.host, question.fingerprint));
    tty.say(QStringLiteral("Is that its key? Type yes to go on: "));
    const auto answer = tty.line();
    return answer && answer->trimmed().compare("yes", Qt::CaseInsensitive) == 0 ? std::optional<QString>("yes")
                                                                                : std::nullopt;
  }
  if (!question.refused.isEmpty()) tty.say(QStringLiteral("\r\033[K%1\n").arg(question.refused));
  tty.say(QStringLiteral("\r\033[K%1: %2%3")
              .arg(question.host, question.text.trimmed(),
                   question.text.trimmed().endsWith(':') ? QStringLiteral(" ") : QStringLiteral(": ")));
  if (!question.visible) tty.hide();
  return tty.line();
}

Interrupts::Interrupts() {
  g_came = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { g_came = 1; };  // without SA_RESTART: a question that is being asked ends, too
  for (int i = 0; i < 3; ++i) ::sigaction(kSignals[i], &action, &g_before[i]);
}

Interrupts::~Interrupts() {
  for (int i = 0; i < 3; ++i) ::sigaction(kSignals[i], &g_before[i], nullptr);
}

bool Interrupts::came() {
  return g_came != 0;
}

}  // namespace loom
