import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.split.client.SplitClient;
import io.split.client.SplitClientConfig;
import io.split.client.SplitFactoryBuilder;
import io.split.client.api.SplitResult;
import io.split.client.impressions.ImpressionsManager;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Evaluates with the vendor's SDK for Java. See sdk-process.ts for what is read and written. */
public final class Client {
  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    String base = arguments[0] + "/sdk";
    SplitClientConfig config =
        SplitClientConfig.builder()
            .endpoint(base, base)
            .authServiceURL(base + "/v2/auth")
            .telemetryURL(base + "/v1")
            .featuresRefreshRate(5)
            .segmentsRefreshRate(30)
            .impressionsMode(ImpressionsManager.Mode.NONE)
            .setBlockUntilReadyTimeout(60_000)
            .build();
    SplitClient client = SplitFactoryBuilder.build(arguments[1], config).client();
    client.blockUntilReady();
    out.println("\"ready\"");
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Gson gson = new Gson();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonObject question = JsonParser.parseString(line).getAsJsonObject();
      List<String> flags = new ArrayList<>();
      question.getAsJsonArray("flags").forEach(flag -> flags.add(flag.getAsString()));
      JsonArray answers = new JsonArray();
      for (JsonElement each : question.getAsJsonArray("cases")) {
        JsonObject one = each.getAsJsonObject();
        Map<String, Object> attributes = attributesIn(one.getAsJsonObject("attributes"));
        Map<String, SplitResult> served =
            client.getTreatmentsWithConfig(one.get("key").getAsString(), flags, attributes);
        JsonArray answer = new JsonArray();
        for (String flag : flags) {
          JsonArray pair = new JsonArray();
          pair.add(served.get(flag).treatment());
          String text = served.get(flag).config();
          pair.add(text == null ? JsonNull.INSTANCE : gson.toJsonTree(text));
          answer.add(pair);
        }
        answers.add(answer);
      }
      out.println(answers);
    }
    client.destroy();
    System.exit(0);
  }

  private static Map<String, Object> attributesIn(JsonObject given) {
    Map<String, Object> attributes = new HashMap<>();
    for (Map.Entry<String, JsonElement> entry : given.entrySet()) {
      JsonElement value = entry.getValue();
      if (value.isJsonArray()) {
        List<String> list = new ArrayList<>();
        value.getAsJsonArray().forEach(each -> list.add(each.getAsString()));
        attributes.put(entry.getKey(), list);
      } else if (value.getAsJsonPrimitive().isBoolean()) {
        attributes.put(entry.getKey(), value.getAsBoolean());
      } else if (value.getAsJsonPrimitive().isNumber()) {
        attributes.put(entry.getKey(), value.getAsLong());
      } else {
        attributes.put(entry.getKey(), value.getAsString());
      }
    }
    return attributes;
  }
}
