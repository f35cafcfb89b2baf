#!/usr/bin/env python3
# The values that columns_test.cpp holds column steps against: scikit-learn's on the same table. Prints C++.
# python3 -m venv V && V/bin/pip install scikit-learn && V/bin/python columns_sklearn.py
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, RobustScaler, StandardScaler

numbers = [3.5, None, -1.25, 10, 3.5, 7.75, None, 0.5, 120, 4]
towns = ["Ulm", "Bern", "Ulm", "Aarau", "Bern", "Ulm", "Chur", "Aarau", "Ulm", "Bern"]
x = np.array([[np.nan if v is None else v] for v in numbers])
known = x[~np.isnan(x[:, 0])]
show = lambda name, values: print(f"constexpr double {name}[] = {{{', '.join(repr(float(v)) for v in np.ravel(values))}}};")
for strategy, name in (("median", "kMedian"), ("mean", "kMean"), ("most_frequent", "kMostFrequent")):
    show(name, SimpleImputer(strategy=strategy).fit_transform(x))
filled = SimpleImputer(strategy="median").fit_transform(x)
show("kStandardised", StandardScaler().fit_transform(filled))
show("kRobust", RobustScaler().fit_transform(filled))
show("kOrdinal", OrdinalEncoder().fit_transform(np.array(towns)[:, None]))
show("kOneHot", OneHotEncoder(sparse_output=False).fit_transform(np.array(towns)[:, None]))
