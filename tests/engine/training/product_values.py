# The values of Shampoo and SOAP that product_rules_test.cpp holds, in double from the papers' algorithms:
#   python3 -m venv v && v/bin/pip install numpy && v/bin/python product_values.py
import numpy as np


def weights(rows, columns):
    return np.cos(np.arange(rows * columns, dtype=float)).reshape(rows, columns)


def gradient(rows, columns, t):
    k = np.arange(rows * columns, dtype=float)
    return (np.sin(0.7 * k * k + 1.3 * t) * (1 + 0.1 * k)).reshape(rows, columns).astype(np.float32).astype(float)


def root(matrix, damping, ridge):
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(values, 0)
    return (vectors * (values + damping + ridge * values.max()) ** -0.25) @ vectors.T


def shampoo(rows, columns, steps, lr, wd, beta1, beta2, eps, beta, damping, ridge, every, start, cuts, graft):
    w, m, v = weights(rows, columns), 0, 0
    blocks = [(slice(*a), slice(*b)) for a in cuts[0] for b in cuts[1]]
    L, R, roots = {}, {}, {}
    for t in range(1, steps + 1):
        g = gradient(rows, columns, t)
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        direction = m / (1 - beta1**t)
        plain = direction / (np.sqrt(v / (1 - beta2**t)) + eps) if graft == 'adam' else direction
        way = np.zeros_like(w)
        for i, (a, b) in enumerate(blocks):
            part = g[a, b]
            L[i] = beta * L.get(i, 0) + (1 - beta) * part @ part.T
            R[i] = beta * R.get(i, 0) + (1 - beta) * part.T @ part
            if t >= start and (t - start) % every == 0:
                roots[i] = [root(x[i] / (1 - beta**t), damping, ridge) for x in (L, R)]
            if i in roots:
                way[a, b] = roots[i][0] @ direction[a, b] @ roots[i][1]
        if t >= start:
            way *= np.linalg.norm(plain) / np.linalg.norm(way)
        else:
            way = plain
        w = w - lr * (way + wd * w)
    return w


def soap(rows, columns, steps, lr, wd, beta1, beta2, eps, every, right=True):
    w, m, v = weights(rows, columns), np.zeros((rows, columns)), np.zeros((rows, columns))
    L, R, QL, QR = np.zeros((rows, rows)), np.zeros((columns, columns)), None, np.eye(columns)
    turn = lambda x: QL.T @ x @ QR
    for t in range(1, steps + 1):
        g = gradient(rows, columns, t)
        n = t - 1  # steps made with this one: the first gradient makes none
        if n > 0:
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * turn(g) ** 2
            adam = turn(m) / (1 - beta1**n) / (np.sqrt(v / (1 - beta2**n)) + eps)
            w = w - lr * (QL @ adam @ QR.T + wd * w)
        L = beta2 * L + (1 - beta2) * g @ g.T
        R = beta2 * R + (1 - beta2) * g.T @ g
        if n == 0:
            QL = np.linalg.eigh(L)[1][:, ::-1]
            if right:
                QR = np.linalg.eigh(R)[1][:, ::-1]
        elif n % every == 0:
            order = np.argsort(-np.diag(QL.T @ L @ QL), kind='stable')
            v, QL = v[order, :], np.linalg.qr(L @ QL[:, order])[0]
            if right:
                order = np.argsort(-np.diag(QR.T @ R @ QR), kind='stable')
                v, QR = v[:, order], np.linalg.qr(R @ QR[:, order])[0]
    return w


def show(name, w):
    print(name, ', '.join('%.9gf' % x for x in w.ravel()))


whole = [[(0, 4)], [(0, 6)]]
cut = [[(0, 2), (2, 4)], [(0, 3), (3, 6)]]
show('shampoo, adam', shampoo(4, 6, 7, .05, .1, .9, .99, 1e-8, .9, 1e-6, 1e-3, 2, 3, whole, 'adam'))
show('shampoo, sgd in blocks', shampoo(4, 6, 4, .05, 0, .9, .99, 1e-8, .9, 1e-6, 1e-3, 1, 1, cut, 'sgd'))
show('soap', soap(4, 4, 9, .05, .1, .9, .95, 1e-8, 3))
show('soap, left', soap(4, 6, 6, .05, 0, .9, .95, 1e-8, 2, right=False))
