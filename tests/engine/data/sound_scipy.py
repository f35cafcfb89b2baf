#!/usr/bin/env python3
# The values that sound_rate_test.cpp holds the step Resample against: scipy's on the same samples. Prints C++.
# python3 -m venv V && V/bin/pip install scipy && V/bin/python sound_scipy.py
from math import gcd

import numpy as np
from scipy.signal import resample_poly

x = np.array([(i * 37 % 23) / 11.5 - 1 for i in range(40)])
for source, target in ((8000, 16000), (16000, 8000), (44100, 16000), (22050, 48000), (8000, 11025)):
    common = gcd(source, target)
    y = resample_poly(x, target // common, source // common)
    values = ", ".join(f"{v:.9g}" for v in y)
    print(f"    {{{source}, {target}, {{{values}}}}},")
