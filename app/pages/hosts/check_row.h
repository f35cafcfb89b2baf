#pragma once
// One line of a check: sign, name, finding, time. What failed or is doubtful stands open: why it matters, and the
// remedy to copy.
#include <QWidget>

#include "launcher/remote/host_check.h"

class QLabel;

namespace loom {

class Button;

class CheckRow : public QWidget {
  Q_OBJECT

 public:
  enum class Form {
    known,
    awaited,  // a grey bar with its name
    aged,     // of an earlier check
  };
  explicit CheckRow(QWidget* parent = nullptr);
  void setLine(const CheckLine& line, Form form);
  const CheckLine& line() const { return m_line; }
  void setLast(bool last);  // of its card: no line below
  Button* copyButton() const { return m_copy; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  bool open() const { return m_form == Form::known && m_line.status != CheckLine::Status::well; }
  CheckLine m_line;
  Form m_form = Form::awaited;
  bool m_last = false;
  QLabel *m_name, *m_finding, *m_time, *m_why, *m_remedy;
  QWidget* m_command;
  Button* m_copy;
};

// Puts a text in the clipboard, and says so on the button for a moment.
void copyFrom(Button& button, const QString& text);

}  // namespace loom
