"""Models of Keras in ONNX by tf2onnx, with what onnxruntime computes: make_keras.py FOLDER [NAME ...]
Needs tensorflow-cpu, tf2onnx and onnxruntime (pip; tensorflow-cpu==2.15.1 tf2onnx==1.16.1 go together). The tests read them
where GRADLOOM_ONNX_MODELS names the folder. Channels come last in Keras, and the batch of every file is open. MultiHeadAttention
is in make_einsum.py. Not among them: SimpleRNN and a GRU without reset_after, which tf2onnx writes with Loop; it is not read yet."""
import pathlib
import sys

import numpy as np
import tensorflow as tf
import tf2onnx
from tensorflow.keras import Model, Sequential, applications, layers

from storing import store


def lenet():
    return Sequential([layers.Input((28, 28, 1)), layers.Conv2D(6, 5, padding="same", activation="tanh"), layers.AveragePooling2D(),
                       layers.Conv2D(16, 5, activation="tanh"), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(120, activation="relu"),
                       layers.Dense(84, activation="relu"), layers.Dense(10, activation="softmax")])


def recurrent(*stack):
    return Sequential([layers.Input((9, 6)), *stack, layers.Dense(3)])


def branches():
    x = layers.Input((16, 16, 3))
    a = layers.LeakyReLU(0.1)(layers.BatchNormalization()(layers.Conv2D(8, 3, strides=2, padding="same", use_bias=False)(x)))
    b = layers.PReLU(shared_axes=[1, 2])(layers.SeparableConv2D(8, 3, strides=2, padding="same")(x))
    y = layers.Concatenate()([a * b, layers.ELU()(a), layers.ZeroPadding2D(1)(layers.Cropping2D(1)(b))])
    y = layers.UpSampling2D()(layers.Conv2DTranspose(4, 3, strides=2, padding="same", activation="swish")(y))
    return Model(x, layers.Dense(4)(layers.Flatten()(layers.AveragePooling2D(4)(layers.SpatialDropout2D(0.2)(y)))))


MODELS = {
    "lenet": (lenet, (28, 28, 1)),
    "resnet50": (lambda: applications.ResNet50(weights=None, input_shape=(64, 64, 3), classes=20), (64, 64, 3)),
    "mobilenet_v2": (lambda: applications.MobileNetV2(weights=None, input_shape=(64, 64, 3), classes=20), (64, 64, 3)),
    "mobilenet_v3": (lambda: applications.MobileNetV3Small(weights=None, input_shape=(64, 64, 3), classes=20), (64, 64, 3)),
    "densenet": (lambda: applications.DenseNet121(weights=None, input_shape=(32, 32, 3), classes=20), (32, 32, 3)),
    "lstm": (lambda: recurrent(layers.LSTM(8)), (9, 6)),
    "lstm_both": (lambda: recurrent(layers.Bidirectional(layers.LSTM(8, return_sequences=True)), layers.LSTM(5)), (9, 6)),
    "gru": (lambda: recurrent(layers.GRU(8)), (9, 6)),
    "conv1d": (lambda: recurrent(layers.Conv1D(8, 3, padding="causal", dilation_rate=2, activation="relu"), layers.GlobalMaxPooling1D()), (9, 6)),
    "branches": (branches, (16, 16, 3)),
}


def settle(model, random):
    """Statistics that are not those of a fresh network."""
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights([w + random.uniform(-0.2, 0.2, w.shape) if i < 3 else random.uniform(0.6, 1.4, w.shape) for i, w in enumerate(layer.get_weights())])


def main():
    folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:] or list(MODELS)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        tf.keras.utils.set_random_seed(3)
        random = np.random.default_rng(7)
        make, shape = MODELS[name]
        model = make()
        settle(model, random)
        for opset in (13, 18):
            path = folder / f"keras_{name}_{opset}.onnx"
            signature = [tf.TensorSpec((None, *shape), tf.float32, name="x")]
            try:
                tf2onnx.convert.from_keras(model, signature, opset=opset, output_path=str(path))
                given = random.uniform(-1, 1, (2, *shape)).astype(np.float32)
                store(path, {"x": given})
            except Exception as fault:  # an exporter's own limits are not ours
                print(f"{path.name}: not exported: {type(fault).__name__} {str(fault)[:200]}")
                path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
