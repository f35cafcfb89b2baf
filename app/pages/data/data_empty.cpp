#include "app/pages/data/data_empty.h"

#include <QApplication>
#include <QClipboard>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "widgets/controls/button.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

const char* const kExample = "x:image,y:label\nimages/0001.png,3\nimages/0002.png,8\n";

QLabel* styled(const QString& text, const char* kind) {
  auto* label = new QLabel(text);
  label->setProperty("kind", kind);
  return label;
}

}  // namespace

DataEmpty::DataEmpty(QWidget* importButton, QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout;
  column->setSpacing(12);
  auto* title = styled(QStringLiteral("Drop a CSV, a folder of class folders, IDX or CIFAR files here"), "title");
  title->setAlignment(Qt::AlignCenter);
  title->setWordWrap(true);
  column->addWidget(title);
  auto* sentence = styled(
      QStringLiteral(
          "A CSV has one row for each sample. Its header names the variables: a cell holds a number, or the file "
          "of an image, a wave or a matrix beside the CSV."),
      "hint");
  sentence->setWordWrap(true);
  sentence->setAlignment(Qt::AlignCenter);
  sentence->setMaximumWidth(520);
  auto* middle = new QHBoxLayout;  // an alignment would cut the last line off
  middle->addStretch(1);
  middle->addWidget(sentence, 100);
  middle->addStretch(1);
  column->addLayout(middle);
  auto* frame = new QFrame;
  frame->setProperty("kind", "well");
  auto* example = new QLabel(QString::fromLatin1(kExample).trimmed());
  const auto restyle = [example] { example->setFont(Theme::of(example).numberFont(FontRole::body)); };
  restyle();
  connect(&Theme::of(this), &Theme::changed, example, restyle);
  example->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* inside = new QVBoxLayout(frame);
  inside->setContentsMargins(16, 12, 16, 12);
  inside->addWidget(example);
  column->addWidget(frame, 0, Qt::AlignHCenter);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch();
  buttons->addWidget(importButton);
  auto* copy = new Button(QStringLiteral("copy"), QStringLiteral("Copy example"), ButtonKind::outlined);
  connect(copy, &QPushButton::clicked, this, [] { QApplication::clipboard()->setText(QString::fromLatin1(kExample)); });
  buttons->addWidget(copy);
  buttons->addStretch();
  column->addLayout(buttons);
  auto* outer = new QVBoxLayout(this);
  outer->addStretch();
  outer->addLayout(column);
  outer->addStretch();
}

}  // namespace loom
