# SPDX-License-Identifier: Apache-2.0
"""Models as estimators of scikit-learn, and the other way round, where both say the same."""

import json
import math

from . import _native

Error = _native.Error
_NO_CLASS, _MOST_TREES = 0xFFFE, 256


def model_toml(estimator, longest):
    """The file of the model."""
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.naive_bayes import GaussianNB
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        GaussianNB = DecisionTreeClassifier = RandomForestClassifier = ()
    if not isinstance(longest, int) or not 64 <= longest <= 65535:
        raise Error(f"longest={longest!r}: give a whole number from 64 to 65535")
    if isinstance(estimator, GaussianNB):
        kind, fitted, parameters = "naive-bayes", "theta_", _of_gaussian
    elif isinstance(estimator, DecisionTreeClassifier):
        kind, fitted, parameters = "c45", "tree_", _of_tree
    elif isinstance(estimator, RandomForestClassifier):
        kind, fitted, parameters = "forest", "estimators_", _of_forest
    else:
        raise Error(
            f"{type(estimator).__name__}: models are of GaussianNB, DecisionTreeClassifier or RandomForestClassifier; "
            f"no other says the same as one of parshall"
        )
    if not hasattr(estimator, fitted):
        raise Error(f"this {type(estimator).__name__} is not fitted yet: call fit()")
    if getattr(estimator, "n_outputs_", 1) != 1:
        raise Error("it has several outputs: fit it to one class a flow")
    classes = [str(name) for name in estimator.classes_]
    flows = [round(count) for count in getattr(estimator, "class_count_", [0] * len(classes))]
    return (
        f'version = 1\nmodel = "{kind}"\npackets = {estimator.n_features_in_}\nlongest = {longest}\nreject = 0.0\n'
        f'classes = {_list(classes)}\n\n[training]\ndate = ""\ncommand = '
        f"{_text('of scikit-learn: ' + type(estimator).__name__)}\n"
        f"captures = 0\nflows = {flows}\n\n{parameters(estimator, classes, longest)}"
    )


def _of_gaussian(estimator, classes, longest):
    tables = []
    for name, means, variances, prior in zip(
        classes, estimator.theta_.tolist(), estimator.var_.tolist(), estimator.class_prior_.tolist()
    ):
        tables.append(
            f"[[naive-bayes.class]]\nname = {_text(name)}\nmean = {_list(means)}\nvariance = {_list(variances)}\nprior "
            f"= {prior!r}\n"
        )
    return "[naive-bayes]\n" + "".join(tables)


def _of_tree(estimator, classes, longest):
    return "[c45]\n" + _nodes(estimator.tree_, classes, longest, _class_of_leaf)


def _of_forest(estimator, classes, longest):
    if len(estimator.estimators_) > _MOST_TREES:
        raise Error(f"it has {len(estimator.estimators_)} trees: a forest of parshall has {_MOST_TREES} at most")
    return "[forest]\n" + "".join(
        "[[forest.tree]]\n" + _nodes(tree.tree_, classes, longest) for tree in estimator.estimators_
    )


def _nodes(tree, classes, longest, check=lambda weights: None):
    feature, left, right, thresholds = (
        values.tolist() for values in (tree.feature, tree.children_left, tree.children_right, tree.threshold)
    )
    values = (
        tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True) * tree.weighted_n_node_samples[:, None]
    )

    def real(node):
        """Past questions that all sizes from 0 to longest answer alike."""
        while left[node] >= 0:
            if thresholds[node] < 0:
                node = right[node]
            elif thresholds[node] >= longest:
                node = left[node]
            else:
                break
        return node

    nodes, lines = [real(0)], []
    for node in nodes:  # which grows: level by level
        if left[node] < 0:
            weights = values[node].tolist()
            check(weights)
            lines.append(f"{{flows = {{{_leaf(weights, classes)}}}}}")
            continue
        lines.append(
            f"{{packet = {feature[node] + 1}, size = {math.floor(thresholds[node])}, up_to = {len(nodes)}, above = "
            f"{len(nodes) + 1}}}"
        )
        nodes += [real(left[node]), real(right[node])]
    return "nodes = [\n" + ",\n".join(lines) + "\n]\n"


def _leaf(weights, classes):
    return ", ".join(f"{_text(name)} = {weight!r}" for name, weight in zip(classes, weights) if weight > 0)


def _class_of_leaf(weights):
    """Of classes that are alike the first counts, to the last digit: there is no telling them apart where a model sees
    less than a millionth."""
    best, most, total = 0, max(weights), sum(weights)
    for number, weight in enumerate(weights):
        if weight / total > weights[best] / total + 1e-6:
            best = number
    if weights[best] != most:
        raise Error(
            "classes of a leaf differ by less than a millionth of its flows, which a model of parshall takes for "
            "alike: fit it with max_depth or others"
        )


def estimator_of(model):
    """A fitted estimator."""
    if model.reject > 0:
        raise Error(
            f"classes are unknown where they are less likely than reject = {model.reject}: scikit-learn has no such "
            f"model"
        )
    if model.kind == "forest":
        raise Error(
            "trees of scikit-learn's forests are not to be had without fitting them: a forest cannot be made one"
        )
    return _gaussian_of(model) if model.kind == "naive-bayes" else _tree_of(model)


def _gaussian_of(model):
    import numpy
    from sklearn.naive_bayes import GaussianNB

    means, variances, priors = model._native.gaussian()
    if None in means:
        raise Error("of some class no packet of some place was seen in training: GaussianNB has a distribution of each")
    shape = len(model.classes), model.packets
    estimator = GaussianNB(priors=priors or None)
    estimator.classes_ = numpy.array(model.classes)
    estimator.n_features_in_ = model.packets
    estimator.theta_ = numpy.array(means).reshape(shape)
    estimator.var_ = numpy.array(variances).reshape(shape)
    estimator.epsilon_ = 0.0
    estimator.class_count_ = numpy.array([model.flows[name] for name in model.classes], float)
    estimator.class_prior_ = numpy.array(priors) if priors else numpy.full(shape[0], 1 / shape[0])
    return estimator


def _tree_of(model):
    import numpy
    from sklearn.tree import DecisionTreeClassifier

    packets, up_to, children, classes, flows = model._native.tree()
    count, kinds = len(children), len(model.classes)
    flows = numpy.array(flows, float).reshape(count, kinds)
    for leaf in (node for node in range(count) if children[node] == 0):
        if classes[leaf] == _NO_CLASS:
            raise Error(
                f"no flow of the training set came to node {leaf}, whose class is unknown: a DecisionTreeClassifier "
                f"always has one"
            )
        flows[leaf, classes[leaf]] = flows[leaf].max()  # of those that are alike to the last digits
    depths = [0] * count
    for node in reversed(range(count)):  # children are behind their parents
        if children[node]:
            flows[node] = flows[children[node]] + flows[children[node] + 1]
    for node in range(count):
        for child in (children[node], children[node] + 1) if children[node] else ():
            depths[child] = depths[node] + 1
    estimator = DecisionTreeClassifier().fit(numpy.zeros((kinds, model.packets)), model.classes)
    shape_of = estimator.tree_.__getstate__()
    nodes = numpy.zeros(count, shape_of["nodes"].dtype)
    is_leaf = numpy.array(children) == 0
    nodes["left_child"] = numpy.where(is_leaf, -1, children)
    nodes["right_child"] = numpy.where(is_leaf, -1, numpy.array(children) + 1)
    nodes["feature"] = numpy.where(is_leaf, -2, packets)
    nodes["threshold"] = numpy.where(is_leaf, -2.0, numpy.array(up_to) + 0.5)
    nodes["weighted_n_node_samples"] = flows.sum(axis=1)
    nodes["n_node_samples"] = numpy.ceil(flows.sum(axis=1))
    tree = type(estimator.tree_)(model.packets, numpy.array([kinds], numpy.intp), 1)
    values = flows / flows.sum(axis=1, keepdims=True)
    tree.__setstate__(
        {"max_depth": max(depths), "node_count": count, "nodes": nodes, "values": values.reshape(count, 1, kinds)}
    )
    estimator.tree_ = tree
    estimator.classes_ = numpy.array(model.classes)
    estimator.n_classes_ = kinds
    estimator.n_features_in_ = model.packets
    return estimator


def _text(text):
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(values):
    return "[" + ", ".join(_text(value) if isinstance(value, str) else repr(value) for value in values) + "]"
