// Made from action/src by `npm run bundle`.
var __knownSymbol = (name, symbol) => (symbol = Symbol[name]) ? symbol : /* @__PURE__ */ Symbol.for("Symbol." + name);
var __typeError = (msg) => {
  throw TypeError(msg);
};
var __using = (stack, value, async) => {
  if (value != null) {
    if (typeof value !== "object" && typeof value !== "function") __typeError("Object expected");
    var dispose, inner;
    if (async) dispose = value[__knownSymbol("asyncDispose")];
    if (dispose === void 0) {
      dispose = value[__knownSymbol("dispose")];
      if (async) inner = dispose;
    }
    if (typeof dispose !== "function") __typeError("Object not disposable");
    if (inner) dispose = function() {
      try {
        inner.call(this);
      } catch (e) {
        return Promise.reject(e);
      }
    };
    stack.push([async, dispose, value]);
  } else if (async) {
    stack.push([async]);
  }
  return value;
};
var __callDispose = (stack, error, hasError) => {
  var E = typeof SuppressedError === "function" ? SuppressedError : function(e, s, m, _) {
    return _ = Error(m), _.name = "SuppressedError", _.error = e, _.suppressed = s, _;
  };
  var fail = (e) => error = hasError ? new E(e, error, "An error was suppressed during disposal") : (hasError = true, e);
  var next = (it) => {
    while (it = stack.pop()) {
      try {
        var result = it[1] && it[1].call(it[2]);
        if (it[0]) return Promise.resolve(result).then(next, (e) => (fail(e), next()));
      } catch (e) {
        fail(e);
      }
    }
    if (hasError) throw error;
  };
  return next();
};

// action/src/main.ts
import { appendFile, readFile } from "node:fs/promises";

// src/errors.ts
var EXIT = {
  ok: 0,
  failed: 1,
  changes: 2,
  invalidSpecs: 3,
  guardRefused: 4,
  notConverged: 5,
  unreadable: 6,
  refused: 7,
  held: 8,
  usage: 64,
  sigint: 130,
  sigterm: 143
};
var EXIT_OF_CODE = {
  /** The command line is wrong. */
  USAGE: EXIT.usage,
  /** The config or the specs are absent or invalid. */
  SPECS_INVALID: EXIT.invalidSpecs,
  /** No Admin API key was given, or the file that should hold it cannot be read. */
  NO_KEY: EXIT.unreadable,
  /** The repository proposes a service that the operator did not allow. */
  ORIGIN_NOT_ALLOWED: EXIT.unreadable,
  /** No answer within the tries that the kind of request allows. */
  UNREACHABLE: EXIT.unreadable,
  /** The service refused the key (401, 403). */
  UNAUTHORISED: EXIT.unreadable,
  /** The service answered something that the contract does not permit, or only part of a list. */
  UNREADABLE: EXIT.unreadable,
  /** The service has no such workspace, environment, traffic type. */
  NOT_ON_SERVICE: EXIT.unreadable,
  /** The service refused one request for a reason of its own (4xx). */
  REJECTED: EXIT.failed,
  /** The operator demands signatures, and none of the named signers signed HEAD. */
  UNSIGNED: EXIT.guardRefused,
  /** The plan is not the reviewed one. */
  PLAN_DIFFERS: EXIT.refused,
  /** HEAD is older than what was applied last. */
  OLDER_HEAD: EXIT.refused,
  /** Another run holds the state or the store. */
  IN_USE: EXIT.refused,
  /** The result could not be written to its destination. */
  OUTPUT: EXIT.failed,
  /** Git could not do what was asked. */
  GIT: EXIT.failed,
  /** The forge of a review refused a request. */
  FORGE: EXIT.failed,
  /** The state ref holds something that this version cannot read. */
  STATE_UNREADABLE: EXIT.failed,
  /** SIGINT or SIGTERM came. */
  INTERRUPTED: EXIT.sigint
};
var FlagkeelError = class extends Error {
  code;
  /** Whether the failed write may have taken effect all the same. */
  fateUnknown;
  /** What the message counts or sums up, one on a line each. */
  items;
  /**
   * @param message `cannot <do what to which thing>: <why>`, lower case, no full stop, the remedy in brackets. Never
   *   contains a key.
   * @param options `fateUnknown`: by default derived from the code, because most errors concern a single request.
   */
  constructor(code, message, options = {}) {
    super(message, options);
    this.name = "FlagkeelError";
    this.code = code;
    this.items = options.items ?? [];
    this.fateUnknown = options.fateUnknown ?? (code === "UNREACHABLE" || code === "UNREADABLE");
  }
  get exitCode() {
    return EXIT_OF_CODE[this.code];
  }
};
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

// action/src/inputs.ts
var COMMANDS = ["review", "reconcile", "drift"];
function toInvocation(environment) {
  const input = (name) => (environment[`INPUT_${name.toUpperCase()}`] ?? "").trim();
  const command = input("command") || "review";
  if (!COMMANDS.includes(command)) {
    const why = "there is no such command here";
    throw new FlagkeelError(
      "USAGE",
      `cannot run ${JSON.stringify(command)}: ${why} (${COMMANDS.join(", ")})`
    );
  }
  const token = input("forge-token");
  const hasGitToken = ["FLAGKEEL_GIT_TOKEN", "FLAGKEEL_GIT_TOKEN_FILE"].some(
    (name) => (environment[name] ?? "") !== ""
  );
  return {
    args: [
      command,
      ...option("since", input("since")),
      ...option("plan-hash", input("plan-hash")),
      ...words(input("extra")),
      // Nothing behind it is an option, whatever the directory is called.
      ...["--", input("directory") || "."]
    ],
    environment: {
      ...withoutInputs(environment),
      ...variable("FLAGKEEL_URL", input("url")),
      ...variable("FLAGKEEL_API_KEY", input("key")),
      ...variable("FLAGKEEL_FORGE_TOKEN", command === "drift" ? "" : token),
      ...variable("FLAGKEEL_GIT_TOKEN", hasGitToken ? "" : token)
    }
  };
}
function withoutSecrets(environment) {
  const secret = /^(?:FLAGKEEL_|GITHUB_TOKEN$|GH_TOKEN$|ACTIONS_)/;
  return without(withoutInputs(environment), secret);
}
function withoutInputs(environment) {
  return without(environment, /^INPUT_/);
}
function without(environment, names) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !names.test(name)));
}
function option(name, value) {
  return value === "" ? [] : [`--${name}=${value}`];
}
function words(text) {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}
function variable(name, value) {
  return value === "" ? {} : { [name]: value };
}

// action/src/program.ts
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
var Programs = class {
  #child;
  #signal;
  /**
   * The runner sends SIGINT, and SIGTERM some seconds later. Only the first is passed on: a second would end the
   * program before it has closed its statuses.
   */
  interrupt(signal) {
    if (this.#signal !== void 0) return;
    this.#signal = signal;
    this.#child?.kill(signal);
  }
  /** Exit code, as a shell would give it: 128 and more where a signal ended the program, or kept it from starting. */
  async run([program = "", ...args], { stdio, ...options }) {
    if (this.#signal !== void 0) return codeOf(this.#signal);
    const child = spawn(program, args, { ...options, stdio, shell: false });
    this.#child = child;
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        this.#child = void 0;
        resolve(code ?? (signal === null ? 1 : codeOf(signal)));
      });
    });
  }
};
function codeOf(signal) {
  return 128 + constants.signals[signal];
}
var INSTALL = [
  ...["npm", "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"],
  // No library of ours needs its scripts.
  "--ignore-scripts",
  "--"
];
async function install({ name, version, bin }, { programs: programs2, environment }) {
  const parent = environment["RUNNER_TEMP"] ?? tmpdir();
  const directory = await mkdtemp(join(parent, "flagkeel-action-"));
  await writeFile(join(directory, "package.json"), '{ "private": true }\n');
  const code = await programs2.run([...INSTALL, `${name}@${version}`], {
    cwd: directory,
    env: environment,
    // Standard output belongs to the result.
    stdio: ["ignore", 2, 2]
  });
  return {
    code,
    main: join(directory, "node_modules", name, bin[name] ?? ""),
    [Symbol.asyncDispose]: async () => rm(directory, { recursive: true, force: true })
  };
}

// action/src/main.ts
var programs = new Programs();
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    programs.interrupt(signal);
  });
}
async function runAction() {
  var _stack = [];
  try {
    const { args, environment } = toInvocation(process.env);
    const manifest = await readManifest();
    const program = __using(_stack, await install(manifest, {
      programs,
      environment: withoutSecrets(process.env)
    }), true);
    if (program.code !== 0) {
      const what = `${manifest.name}@${manifest.version}`;
      const why = `npm ended with ${String(program.code)}`;
      process.stderr.write(`cannot install ${what}: ${why} (its messages stand above)
`);
      return program.code > 128 ? program.code : EXIT.failed;
    }
    return await programs.run([process.execPath, program.main, ...args], {
      env: environment,
      stdio: "inherit"
    });
  } catch (_) {
    var _error = _, _hasError = true;
  } finally {
    var _promise = __callDispose(_stack, _error, _hasError);
    _promise && await _promise;
  }
}
async function readManifest() {
  const text = await readFile(new URL("../package.json", import.meta.url), "utf8");
  return JSON.parse(text);
}
try {
  process.exitCode = await runAction();
} catch (error) {
  process.stderr.write(`${messageOf(error)}
`);
  process.exitCode = error instanceof FlagkeelError ? error.exitCode : EXIT.failed;
}
var outputFile = process.env["GITHUB_OUTPUT"];
if (outputFile) {
  await appendFile(outputFile, `exit-code=${String(process.exitCode)}
`).catch(
    (error) => {
      process.stderr.write(`warning: cannot write the output exit-code: ${messageOf(error)}
`);
    }
  );
}
