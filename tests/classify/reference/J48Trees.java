// SPDX-License-Identifier: Apache-2.0
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import weka.classifiers.trees.J48;
import weka.classifiers.trees.j48.C45Split;
import weka.classifiers.trees.j48.ClassifierTree;
import weka.core.Attribute;
import weka.core.DenseInstance;
import weka.core.Instance;
import weka.core.Instances;

/** Grows trees with Weka's J48 on samples in CSV, and writes them level by level with what they predict. */
class J48Trees {
  /** in.csv, out.txt, options of J48. */
  public static void main(String[] args) throws Exception {
    Instances data = read(args[0]);
    J48 j48 = new J48();
    j48.setOptions(args[2].split(" "));
    j48.buildClassifier(data);
    try (PrintWriter out = new PrintWriter(args[1])) {
      out.println("options," + args[2]);
      write(root(j48), data.numClasses(), out);
      StringBuilder predicted = new StringBuilder("predicted");
      for (Instance row : data) predicted.append(',').append((int) j48.classifyInstance(row));
      out.println(predicted);
    }
  }

  private static ClassifierTree root(J48 j48) throws Exception {
    var field = J48.class.getDeclaredField("m_root");
    field.setAccessible(true);
    return (ClassifierTree) field.get(j48);
  }

  private static void write(ClassifierTree root, int classes, PrintWriter out) {
    Queue<ClassifierTree> level = new ArrayDeque<>(List.of(root));
    while (!level.isEmpty()) {
      ClassifierTree node = level.remove();
      if (node.isLeaf()) {
        StringBuilder leaf = new StringBuilder("leaf");
        for (int id = 0; id < classes; ++id) leaf.append(',').append(node.getLocalModel().distribution().perClass(id));
        out.println(leaf);
      } else {
        C45Split split = (C45Split) node.getLocalModel();
        out.println("split," + split.attIndex() + "," + (long) split.splitPoint());
        level.addAll(List.of(node.getSons()));
      }
    }
  }

  /** Classes by number in their order of appearance, as the program numbers them. */
  private static Instances read(String path) throws Exception {
    List<String> lines = Files.readAllLines(Path.of(path));
    int packets = lines.get(0).split(",").length - 2;
    LinkedHashSet<String> names = new LinkedHashSet<>();
    for (String line : lines.subList(1, lines.size())) names.add(line.split(",")[0]);
    ArrayList<Attribute> attributes = new ArrayList<>();
    for (int packet = 1; packet <= packets; ++packet) attributes.add(new Attribute("size_" + packet));
    attributes.add(new Attribute("class", new ArrayList<>(names)));
    Instances data = new Instances("samples", attributes, lines.size());
    data.setClassIndex(packets);
    for (String line : lines.subList(1, lines.size())) {
      String[] cells = line.split(",", -1);
      Instance row = new DenseInstance(packets + 1);
      row.setDataset(data);
      for (int packet = 0; packet < packets; ++packet) {
        if (!cells[2 + packet].isEmpty()) row.setValue(packet, Double.parseDouble(cells[2 + packet]));
      }
      row.setValue(packets, cells[0]);
      data.add(row);
    }
    return data;
  }
}
