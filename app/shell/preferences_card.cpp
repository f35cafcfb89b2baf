#include "app/shell/preferences_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "app/preferences.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/switch.h"
#include "widgets/controls/text.h"

namespace loom {

PreferencesCard::PreferencesCard(Preferences& preferences, QWidget* window) : Popover(window) {
  setObjectName("preferences");
  setTitle(tr("Preferences"));
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(24);
  grid->setVerticalSpacing(10);
  int row = 0;
  const auto add = [&](const QString& label, QWidget* control) {
    control->setAccessibleName(label);
    grid->addWidget(makeLabel("label", label), row, 0);
    grid->addWidget(control, row++, 1, Qt::AlignLeft);
  };
  auto* theme = new SegmentedControl({tr("System"), tr("Light"), tr("Dark")});
  theme->setObjectName("theme");
  theme->setCurrent(static_cast<int>(preferences.themeMode()));
  connect(theme, &SegmentedControl::currentChanged, this,
          [&preferences](int index) { preferences.setThemeMode(static_cast<ThemeMode>(index)); });
  add(tr("Colours"), theme);
  QStringList percents;
  int chosen = 1;
  for (int i = 0; i < 5; ++i) {
    percents << tr("%1 %").arg(Preferences::kTextSizes[i]);
    if (Preferences::kTextSizes[i] == preferences.textSize()) chosen = i;
  }
  auto* size = new SegmentedControl(percents);
  size->setObjectName("text-size");
  size->setCurrent(chosen);
  connect(size, &SegmentedControl::currentChanged, this,
          [&preferences](int index) { preferences.setTextSize(Preferences::kTextSizes[index]); });
  add(tr("Text size"), size);
  auto* motion = new Switch(Switch::Words::onOff);
  motion->setChecked(preferences.reducedMotion());
  connect(motion, &Switch::toggled, &preferences, &Preferences::setReducedMotion);
  add(tr("Reduced motion"), motion);
  auto* wheel = new Switch(Switch::Words::onOff);
  wheel->setChecked(preferences.wheelZooms());
  connect(wheel, &Switch::toggled, &preferences, &Preferences::setWheelZooms);
  add(tr("Wheel zooms the drawing"), wheel);
  contentLayout()->addLayout(grid);
}

}  // namespace loom
