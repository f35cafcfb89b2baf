#pragma once
// The settings of runs as a person reads them: with the catalogue's defaults where the run's file is silent, under the
// catalogue's labels.
#include <QString>
#include <QStringList>

#include "app/differences.h"
#include "launcher/store/run_record.h"

namespace loom {

// `flat` ("optimizer.learning_rate" -> 0.1, as RunRecord has it) with every field of the run, its optimizer, schedule
// and warm-up. Empty stays empty: nothing is known of a run that has not begun.
Json withDefaults(const Json& flat);

// "optimizer.learning_rate" -> "Learning rate", "optimizer.name" -> "Optimizer".
QString labelOfSetting(const QString& key);
// As a cell shows it: 0.1, 4,096, LARS, "All ranks" for "synchronised", "–" for what is null.
QString textOfSetting(const QString& key, const Json& value);

// For Differences: what a run was given, and the defaults where it is silent (`full`, of withDefaults()). Nothing of a
// run whose settings are not known yet.
NamedValues namedSettings(const Json& given, const Json& full);

}  // namespace loom
