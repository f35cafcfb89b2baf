#pragma once
// What a host asks while one signs in: whether its key is the right one, a passphrase, a password, a code. Three of the
// questions that may stop the window. Nothing that is typed is kept here.
#include <QList>
#include <QObject>
#include <QPointer>

#include "launcher/ssh/ssh_connection.h"

class QDialog;

namespace loom {

class HostLines;

class HostQuestions : public QObject {
  Q_OBJECT

 public:
  HostQuestions(HostLines& lines, QWidget& window);

 private:
  struct Open {
    QString host;
    int id = 0;
    SshQuestion question;
  };
  void ask(const Open& open);
  void gone(const QString& host, int id);
  void next();
  QDialog* makeDialog(const Open& open);
  void answer(const Open& open, const std::optional<QString>& text);

  HostLines& m_lines;
  QWidget& m_window;
  QList<Open> m_waiting;  // the first is on the screen
  QPointer<QDialog> m_dialog;
};

}  // namespace loom
