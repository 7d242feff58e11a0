# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
# # Applications by the sizes of first packets, beside scikit-learn
#
# The IP sizes of a flow's first four packets often reveal its application. This notebook generates four applications
# whose sizes differ and overlap.
# Each application has eight captures of 100 flows. With your own captures, use labels instead of the file names.

# %%
import json
import pathlib
import subprocess
import sys

import matplotlib.pyplot as plt
import pandas
import parshall
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

APPLICATIONS = {
    "voice": "size=150-300",
    "game": "size=64-240",
    "video": "size=600-1400",
    "bulk": "size=1518:4+700:1+90:1",
}
SIZES = [f"ip_size_{i}_bytes" for i in range(1, 5)]
KEY = ["protocol", "src_ip", "src_port", "dst_ip", "dst_port"]


def run(command):
    parshall_py = [sys.executable, "-m", "parshall"]
    return subprocess.run([*parshall_py, *command.split()], check=True, capture_output=True, text=True).stdout


def make(folder, number, application):
    """A capture of an application; its flows, with their sizes, as a frame."""
    seed = 1000 * number + list(APPLICATIONS).index(application)
    path = pathlib.Path(folder, f"{application}-{number}.pcap")
    path.parent.mkdir(exist_ok=True)
    traffic = f"{APPLICATIONS[application]},protocol=udp,dist=uniform,flows=100,packets=1000,seed={seed}"
    run(f"send -g {traffic} --count 1000 -w {path}")
    return (
        parshall.flows(path, columns=["+first_sizes"])
        .to_pandas()
        .assign(capture=path.name, application=application)
    )


flows = pandas.concat(
    [make("captures", number, application) for application in APPLICATIONS for number in range(8)],
    ignore_index=True,
)
flows.groupby("application")[SIZES].mean().round(0)

# %% [markdown]
# **Train** two models with the labels of the flows. The accuracy comes from cross-validation by whole captures: no
# model classifies a flow of a capture that it was trained on.

# %%
flows.rename(columns={"application": "class"})[["class", "capture", *KEY]].to_csv("labels.csv", index=False)
trained = {}
for model in ("naive-bayes", "c45"):
    learn = f"train -r captures --labels labels.csv --model {model} --folds 8 --format json"
    output = run(f"{learn} -o {model}.toml --write-samples {model}.csv")
    trained[model] = json.loads(output)
samples = pandas.read_csv("c45.csv")
samples.head(3)

# %% [markdown]
# **Do the same in scikit-learn**, with the columns of the frame and the same folds.

# %%
flows = flows.merge(samples[["capture", "fold"]].drop_duplicates(), on="capture")
theirs = {
    "naive-bayes": GaussianNB(priors=[1 / len(APPLICATIONS)] * len(APPLICATIONS)),
    "c45": DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=1),
}
predicted = {
    name: cross_val_predict(model, flows[SIZES], flows.application, cv=PredefinedSplit(flows.fold))
    for name, model in theirs.items()
}
right = pandas.DataFrame(
    {
        "parshall": {
            name: sum(row["recall"] * row["flows"] for row in trained[name]["rows"]) / len(samples)
            for name in theirs
        },
        "scikit-learn": {name: (predicted[name] == flows.application).mean() for name in theirs},
    }
)
right.round(4)

# %% [markdown]
# The confusion matrix of the scikit-learn tree:

# %%
ConfusionMatrixDisplay.from_predictions(flows.application, predicted["c45"], normalize="true", cmap="Blues")
plt.gcf().set_size_inches(4.5, 4)
plt.show()

# %% [markdown]
# **Classify** captures that no model has seen. The result is the column `class`.


# %%
def classified(application):
    """The flows of a new capture, with their true and their predicted class."""
    frame = make("new", 9, application)
    with parshall.flows(f"new/{application}-9.pcap", model="c45.toml", columns=["+class"]) as found:
        return frame.merge(found.to_pandas()[[*KEY, "class"]], on=KEY)


new = pandas.concat(map(classified, APPLICATIONS))
print(f"{(new['class'] == new.application).mean():.1%} of {len(new)} new flows are classified correctly")
pandas.crosstab(new.application, new["class"].astype(str))
