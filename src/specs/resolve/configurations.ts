import type { FlagSpec } from '../../generated/flag.schema.d.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { Memory, ownMember } from '../../model/collections.js';
import type { OwnSchema } from '../parse/own-schema.js';
import type { SpecFile } from '../parse/parse-file.js';
import type { SpecOf, SpecSet } from './spec-set.js';

const JUDGED = new Memory<SpecFile, readonly Diagnostic[]>();

/** The compiler of schemas is loaded only if a flag has one. */
export async function configurationDiagnostics(specs: SpecSet): Promise<Diagnostic[]> {
  const judged = [...specs.flags.values()].filter(
    ({ spec }) => spec.configurationSchema !== undefined,
  );
  if (judged.length === 0) return [];
  const { ownSchemaOf } = await import('../parse/own-schema.js');
  return judged.flatMap((flag) => {
    const { file, spec } = flag;
    const overlays = specs.overlays.filter((each) => each.spec.flag === spec.flag);
    const from = overlays.map((each) => each.file);
    return JUDGED.of(file, from, () => {
      const schema = ownSchemaOf(spec.configurationSchema ?? {});
      if (schema.ok) return [flag, ...overlays].flatMap((each) => mismatches(each, schema.value));
      return schema.faults.map((fault) => file.fault(['configurationSchema'], fault));
    });
  });
}

/** @param spec of a flag's file, or of an overlay, which has no environments inside. */
function mismatches(
  { file, spec }: SpecOf<Pick<FlagSpec, 'environments'> & Partial<Pick<FlagSpec, 'treatments'>>>,
  faultsIn: OwnSchema,
): Diagnostic[] {
  const blocks = file.keys('environments').map((name) => ({
    path: ['environments', name],
    treatments: ownMember(spec.environments, name)?.treatments,
  }));
  return [{ path: [], treatments: spec.treatments }, ...blocks].flatMap(({ path, treatments }) =>
    Object.entries(treatments ?? {}).flatMap(([name, treatment]) => {
      const { configuration = null } = typeof treatment === 'string' ? {} : treatment;
      // Null takes the configuration away.
      if (configuration === null) return [];
      return faultsIn(configuration).map((fault) =>
        file.fault([...path, 'treatments', name, 'configuration'], {
          ...fault,
          message: `configuration of "${name}" ${fault.message}`,
        }),
      );
    }),
  );
}
