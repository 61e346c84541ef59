/** `flagkeel.yaml` of the workspace `Default`; further members may be put behind it. */
export const STAGING_CONFIG = 'workspace: Default\nenvironments:\n  staging: {}\n';
/** The same with production, where a run takes over nothing unasked that it did not make. */
export const PROTECTED_CONFIG = `${STAGING_CONFIG}  production: { protected: true }\n`;
/** The same with production, which is treated like any other environment. */
export const UNPROTECTED_CONFIG = `${STAGING_CONFIG}  production: { protected: false }\n`;

/**
 * The file of a flag that serves "on" to so many percent of its users, and "off" to the rest.
 *
 * @param environments name → members that stand before the default rule, such as `killed: true, `.
 */
export function flagText(
  name: string,
  on: number | string,
  environments: Readonly<Record<string, string>> = { staging: '', production: '' },
): string {
  const blocks = Object.entries(environments).map(
    ([environment, members]) =>
      `  ${environment}: { ${members}defaultRule: { "on": ${on}, "off": rest } }\n`,
  );
  return `flag: ${name}
trafficType: user
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
${blocks.join('')}`;
}
