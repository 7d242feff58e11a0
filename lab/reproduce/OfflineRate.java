// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import weka.classifiers.Classifier;
import weka.classifiers.bayes.NaiveBayes;
import weka.classifiers.trees.J48;
import weka.core.Attribute;
import weka.core.DenseInstance;
import weka.core.Instance;
import weka.core.Instances;

/**
 * How many flows of a file of samples Weka tells in a second of CPU time, of those that it was trained on: a line for
 * each round, "learner,flows a second".
 */
class OfflineRate {
  private static final double LEAST_SECONDS = 1;

  /** samples.csv (class, capture, size_1 to size_N, fold), packets, rounds. */
  public static void main(String[] args) throws Exception {
    Instances data = read(args[0], Integer.parseInt(args[1]));
    List<Classifier> learners = List.of(new NaiveBayes(), new J48());
    for (Classifier learner : learners) {
      learner.buildClassifier(data);
      rate(learner, data); // so that it is compiled
    }
    for (int round = Integer.parseInt(args[2]); round > 0; --round)
      for (Classifier learner : learners) System.out.println(learner.getClass().getSimpleName() + "," + rate(learner, data));
  }

  private static long cpuNs() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static double rate(Classifier learner, Instances data) throws Exception {
    long begin = cpuNs(), flows = 0;
    double seconds = 0, sum = 0;
    while (seconds < LEAST_SECONDS) {
      for (Instance flow : data) sum += learner.classifyInstance(flow);
      flows += data.numInstances();
      seconds = (cpuNs() - begin) / 1e9;
    }
    if (Double.isNaN(sum)) throw new IllegalStateException("a flow has no class");
    return flows / seconds;
  }

  private static Instances read(String path, int packets) throws Exception {
    List<String> lines = Files.readAllLines(Path.of(path));
    LinkedHashSet<String> names = new LinkedHashSet<>();
    for (String line : lines.subList(1, lines.size())) names.add(line.substring(0, line.indexOf(',')));
    ArrayList<Attribute> attributes = new ArrayList<>();
    for (int packet = 1; packet <= packets; ++packet) attributes.add(new Attribute("size_" + packet));
    attributes.add(new Attribute("class", new ArrayList<>(names)));
    Instances data = new Instances("samples", attributes, lines.size());
    data.setClassIndex(packets);
    for (String line : lines.subList(1, lines.size())) {
      String[] cells = line.split(",", -1); // a capture's name may have commas: sizes are counted from the end
      Instance row = new DenseInstance(packets + 1);
      row.setDataset(data);
      for (int packet = 0; packet < packets; ++packet) row.setValue(packet, Double.parseDouble(cells[cells.length - 1 - packets + packet]));
      row.setValue(packets, cells[0]);
      data.add(row);
    }
    return data;
  }
}
