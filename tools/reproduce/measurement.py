# SPDX-License-Identifier: Apache-2.0
"""The SOSR paper: its figures and tables, and what is run for them."""
import neighbours
from measurement_judges import figure_1a, figure_1b, figure_1c, figure_2_heap, figure_2a, figure_2bc, figure_3a, figure_3b, figure_3c, task
from measurement_sharing import figure_6, figure_7a, figure_8, figure_9a, figure_9b, merging, tasks_beside
from paper import Figure, Paper, Run

CITATION = "Alipourfard et al., *A comparison of performance and accuracy of measurement algorithms in software*, SOSR 2018"
HEAVY = ("--task", "heavy-hitter", "--key-bytes", "8")  # as the paper has it: pairs of addresses
ROUNDS, QUICK = ("--rounds", "9"), ("--rounds", "5")
SIZED = "count-array,count-min,linear,cuckoo-1,cuckoo-4,space-saving,bucketed"
TASKED = "count-array,linear,cuckoo-1,cuckoo-4,bucketed"

RUNS = {
    "sizes": Run(("tables", "--tables", SIZED, *HEAVY, "--flows", "131072", "--zipf", "1.1", "--load", "1,0.25,0.0625,0.015625", *ROUNDS), "memory_mb",
                 quick=("tables", "--tables", SIZED, *HEAVY, "--flows", "131072", "--zipf", "1.1", "--load", "1,0.0625", *QUICK)),
    "accuracy": Run(("sketches", "--tables", "count-array-keys,count-array-replace,count-array,count-min,count-min-conservative,heavy-keeper,"
                     "space-saving,linear,bucketed", *HEAVY, "--flows", "131072", "--zipf", "1.1", "--load", "8,2,1,0.5,0.25,0.0625", *ROUNDS),
                    "p99_cycles", "precision",
                    quick=("sketches", "--tables", "count-array-keys,count-array-replace,count-min,space-saving,linear,bucketed", *HEAVY, "--flows",
                           "131072", "--zipf", "1.1", "--load", "8,1,0.25", *QUICK)),
    "heap": Run(("tables", "--tables", "linear,count-array,space-saving", *HEAVY, "--flows", "1Ki,16Ki,128Ki,1Mi", "--zipf", "0.75,1.1,1.5,2", *ROUNDS),
                "zipf", quick=("tables", "--tables", "linear,count-array,space-saving", *HEAVY, "--flows", "1Ki,1Mi", "--zipf", "0.75,1.5", *QUICK)),
    "skew": Run(("tables", "--tables", "count-array,count-min,linear,space-saving,bucketed", *HEAVY, "--flows", "1Mi", "--zipf",
                 "0.75,1.1,1.25,1.5,1.75", *ROUNDS), "zipf", "p99_cycles"),
    "array": Run(("tables", "--tables", "count-array", *HEAVY, "--flows", "4Ki,64Ki,1Mi,16Mi", "--zipf", "0.75,1.1,1.5", *ROUNDS), "flows"),
    "superspreader": Run(("tables", "--tables", TASKED, "--task", "superspreader", "--key-bytes", "8", "--flows", "65536", "--zipf", "1.1", "--load",
                          "1,0.25", *ROUNDS), "memory_mb", "p99_cycles",
                         quick=("tables", "--tables", TASKED, "--task", "superspreader", "--key-bytes", "8", "--flows", "65536", "--zipf", "1.1", *QUICK)),
    "change": Run(("tables", "--tables", TASKED, "--task", "change", "--key-bytes", "8", "--flows", "65536", "--zipf", "1.1", "--load", "1,0.25",
                   *ROUNDS), "memory_mb", "p99_cycles",
                  quick=("tables", "--tables", TASKED, "--task", "change", "--key-bytes", "8", "--flows", "65536", "--zipf", "1.1", *QUICK)),
    "values": Run(("tables", "--tables", "linear,linear-index", "--flows", "1Mi", "--zipf", "0.75,1.25,1.75", "--value-bytes", "4,16,64,128", *ROUNDS),
                  "value_bytes", "p99_cycles"),
    "contention": Run(("contention", "--cores", "2", "--flows", "4Ki,64Ki,1Mi", "--zipf", "1.1", *ROUNDS), "flows",
                      quick=("contention", "--cores", "2", "--flows", "64Ki", "--zipf", "1.1", *QUICK)),
    "footprint": Run(x="footprint_mb", module=neighbours.FOOTPRINT),
    "neighbours": Run(x="neighbours", module=neighbours.NUMBER),
    "beside": Run(("tables", "--tables", neighbours.TABLES, *HEAVY, "--flows", "1Mi", "--zipf", "1.1", "--beside", "none,cache,memory", *ROUNDS)),
}

ONLY_B = "the text names part (b) alone, and states nothing of this one"

FIGURES = (
    Figure("table 1", "Which published solutions for six measurement tasks are sketches, heaps or trees, and hash tables.",
           not_here="a list of the literature: it states nothing that is measured"),
    Figure("1a", "Linear probing has a lower mean and tail than cuckoo hashing at every size; four entries a bucket improve cuckoo's tail.", ("sizes",),
           figure_1a, plot="sizes"),
    Figure("1b", "The count array costs less than Count-Min with three rows at every size, mean and tail.", ("sizes",), figure_1b),
    Figure("1c", "At 98 % precision the count array's p99 is below Count-Min's (45 to 64 ns).", ("accuracy",), figure_1c, plot="accuracy"),
    Figure("2a", "Count array below linear below heap at every size.", ("sizes",), figure_2a),
    Figure("2b", "Linear is exact; a count array reaches a precision of 99.5 % for less; the heap costs most (precision).", ("accuracy",),
           figure_2bc("precision")),
    Figure("2c", "The same of recall: 100 and 96.5 %.", ("accuracy",), figure_2bc("recall")),
    Figure("2, the heap", "A heap is never a good choice in software.", ("heap",), figure_2_heap, plot="heap"),
    Figure("3a", "Less skew costs Count-Min's tail more than the count array's.", ("skew",), figure_3a, plot="skew"),
    Figure("3b", "The heap's tail grows steeply with less skew; linear's is only slightly above the count array's.", ("skew",), figure_3b),
    Figure("3c", "Within a cache skew makes no difference; beyond it less skew costs more.", ("array",), figure_3c, plot="array"),
    Figure("4a", "(Superspreaders.)", not_here=ONLY_B),
    Figure("4b", "Superspreaders: the count array has the lowest latency, at 97 % precision; linear is the fastest hash table, with 99 and 100 % precision "
           "and recall.", ("superspreader",),
           task("superspreader", 0.97, "where a Bloom filter errs it takes a new destination for an old one: that costs recall, and precision nothing; the "
                "paper prints it the other way round. Its count array names flows by a key, ours every flow of a place"), plot="superspreader"),
    Figure("5a", "(Changes.)", not_here=ONLY_B),
    Figure("5b", "Changes by EWMA: the same order; the count array at 99 % precision, linear at 100 %.", ("change",),
           task("change", 0.99, "the paper does not give its smoothing and threshold: ours are RFC 6298's, and four deviations"), plot="change"),
    Figure("6", "The tail grows with the size of an entry.", ("values",), figure_6, plot="values"),
    Figure("7a", "A pointer to the value costs less where values are large and the skew low, more where they are small; with high skew it costs a little.",
           ("values",), figure_7a),
    Figure("7b", "(Values inline and behind a pointer.)", not_here="the text names part (a) alone, and states nothing of this one"),
    Figure("8", "Separate tables cost less than one shared by compare-and-swap, at every size, mean and tail.", ("contention",), figure_8, plot="contention"),
    Figure("section 5.1", "Merging the tables of all cores at the end of an epoch costs next to nothing.", ("contention",), merging),
    Figure("9a", "A neighbour with a footprint up to the last-level cache slows nothing, a larger one all; the count array stays the fastest.",
           ("footprint",), figure_9a, plot="footprint"),
    Figure("9b", "Each neighbour more that uses memory costs more (2.9 times with seven); the count array stays the fastest.", ("neighbours",), figure_9b,
           plot="neighbours"),
    Figure("neighbours of the lab", "The count array stays the fastest beside one that writes to as much memory as the last-level cache holds, and one that "
           "copies memory.", ("beside",), tasks_beside, plot="beside", ours=True),
)

PAPER = Paper("measurement", CITATION, (), FIGURES, RUNS)
