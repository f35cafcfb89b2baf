#include "app/shell/host_questions.h"

#include <QDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>

#include "launcher/remote/host_lines.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kQuestionWidth = 460;

QLabel* words(const char* kind, const QString& text) {
  QLabel* const label = makeLabel(kind, text, nullptr, Wrap::yes);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

QString titleOf(const SshQuestion& question) {
  switch (question.kind) {
    case SshQuestion::Kind::newHostKey:
      return HostQuestions::tr("Is this %1?").arg(question.host);
    case SshQuestion::Kind::passphrase:
      return HostQuestions::tr("Passphrase of a key");
    case SshQuestion::Kind::password:
      return HostQuestions::tr("Password for %1").arg(question.host);
    case SshQuestion::Kind::code:
      return HostQuestions::tr("Code for %1").arg(question.host);
    case SshQuestion::Kind::notice:
      break;  // nothing is asked
  }
  return {};
}

QString hintOf(const SshQuestion& question) {
  switch (question.kind) {
    case SshQuestion::Kind::newHostKey:
      return HostQuestions::tr(
          "Compare it with what whoever runs the host tells you. Once accepted it is entered in known_hosts, and a key "
          "that differs is refused.");
    case SshQuestion::Kind::code:
      return HostQuestions::tr("It is good for this one connection.");
    default:
      return HostQuestions::tr("Asked once for this connection. Kept in memory until Gradloom ends, stored nowhere.");
  }
}

}  // namespace

HostQuestions::HostQuestions(HostLines& lines, QWidget& window) : QObject(&window), m_lines(lines), m_window(window) {
  connect(&lines, &HostLines::question, this, [this](const QString& host, int id, const SshQuestion& question) {
    ask({host, id, question});
  });
  connect(&lines.store(), &HostStore::hostRemoved, this, [this](const QString& host) { gone(host, 0); });
}

void HostQuestions::ask(const Open& open) {
  if (HostLine* const line = m_lines.line(open.host)) {
    // The line may break while somebody looks for the password.
    if (!line->property("questionsHeard").toBool())
      connect(line, &HostLine::questionGone, this, [this, host = open.host](int id) { gone(host, id); });
    line->setProperty("questionsHeard", true);
  }
  m_waiting.append(open);
  if (m_waiting.size() == 1) next();
}

// `id` 0: whatever that host asked.
void HostQuestions::gone(const QString& host, int id) {
  const auto meant = [&](const Open& each) { return each.host == host && (id == 0 || each.id == id); };
  if (!m_waiting.isEmpty() && meant(m_waiting.first()) && m_dialog) {
    m_dialog->disconnect(this);
    m_dialog->close();
  }
  const bool first = !m_waiting.isEmpty() && meant(m_waiting.first());
  m_waiting.removeIf(meant);
  if (first) next();
}

void HostQuestions::next() {
  if (m_waiting.isEmpty()) return;
  const Open open = m_waiting.first();
  m_dialog = makeDialog(open);
  m_dialog->open();
}

QDialog* HostQuestions::makeDialog(const Open& open) {
  const SshQuestion& question = open.question;
  auto* dialog = new QDialog(&m_window);
  dialog->setObjectName("host-question");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(titleOf(question));
  dialog->setFixedWidth(kQuestionWidth);
  auto* column = new QVBoxLayout(dialog);
  column->setContentsMargins(20, 18, 20, 16);
  column->setSpacing(10);
  column->addWidget(words("heading", titleOf(question)));
  if (!question.refused.isEmpty()) {
    auto* refused = words("error", question.refused);
    refused->setObjectName("question-refused");
    column->addWidget(refused);
  }
  if (!question.note.isEmpty()) column->addWidget(words("hint", question.note));  // what the far side says to it
  auto* text = words("field", question.text);
  text->setObjectName("question-text");
  column->addWidget(text);
  QLineEdit* field = nullptr;
  if (question.kind == SshQuestion::Kind::newHostKey) {
    auto* fingerprint = words("number", question.fingerprint);
    fingerprint->setObjectName("fingerprint");
    auto* frame = new QFrame;
    frame->setProperty("kind", "well");
    auto* inside = new QVBoxLayout(frame);
    inside->setContentsMargins(12, 8, 12, 8);
    fingerprint->setFont(Theme::of(&m_window).numberFont(FontRole::label));
    inside->addWidget(fingerprint);
    column->addWidget(frame);
  } else {
    field = new QLineEdit;
    field->setObjectName("answer");
    field->setAccessibleName(titleOf(question));
    field->setEchoMode(question.visible ? QLineEdit::Normal : QLineEdit::Password);
    column->addWidget(field);
  }
  column->addWidget(words("hint", hintOf(question)));
  auto* row = new QHBoxLayout;
  auto* cancel = new Button(tr("Cancel"), ButtonKind::outlined);
  cancel->setObjectName("decline");
  auto* accept =
      new Button(field ? tr("Sign in") : tr("Accept this key"), field ? ButtonKind::tinted : ButtonKind::outlined);
  accept->setObjectName("accept");
  row->addStretch();
  row->addWidget(cancel);
  row->addWidget(accept);
  column->addSpacing(4);
  column->addLayout(row);
  // A key is never accepted by a careless Enter.
  cancel->setAutoDefault(true);
  accept->setAutoDefault(field != nullptr);
  (field ? accept : cancel)->setDefault(true);
  if (field)
    field->setFocus();
  else
    cancel->setFocus();
  connect(cancel, &Button::clicked, dialog, &QDialog::reject);
  connect(accept, &Button::clicked, dialog, &QDialog::accept);
  connect(dialog, &QDialog::finished, this, [this, open, field](int result) {
    if (result != QDialog::Accepted)
      answer(open, std::nullopt);
    else
      answer(open, field ? field->text() : QStringLiteral("yes"));
    if (field) field->setText(QString(field->text().size(), QChar(' ')));
  });
  return dialog;
}

void HostQuestions::answer(const Open& open, const std::optional<QString>& text) {
  if (HostLine* const line = m_lines.line(open.host)) line->answer(open.id, text);
  m_waiting.removeIf([&](const Open& each) { return each.host == open.host && each.id == open.id; });
  next();
}

}  // namespace loom
