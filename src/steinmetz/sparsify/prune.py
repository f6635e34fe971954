"""Prune a graph exactly: what cannot change an observation goes, what stands twice stands once.

Rules, until none applies (method §4): parameters that are zero; units with no way to the output;
units that no input reaches (a constant, which Ψ̂ subtracts or which is one bias); terms the
normalisation cancels; units that are linear (merged into their neighbours); units that do the same
as another (merged into it); the scale of a unit that has none of its own (a square: one of its
weights becomes one). Same ∇Ψ̂, same Ψ̂, to rounding.
"""

import dataclasses
from collections import Counter

import jax.numpy as jnp
import numpy as np

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import UNIT, Graph
from steinmetz.potentials.law import Law
from steinmetz.records import Reference
from steinmetz.shapes import Theta
from steinmetz.sparsify.draft import Draft, Link

# Two units with weights this close (relative) are the same unit.
_SAME = 1e-12


def prune(graph: Graph, theta: Theta, reference: Reference) -> Law:
    """The small law that equals the graph at θ to rounding: same slopes ∇Ψ̂, same energy Ψ̂.

    Rules are tried in order, and from the first again after any of them changed something; each
    takes a link or a unit away or brings it closer to its final form, so they come to an end.
    """
    draft = Draft(graph, np.asarray(theta), reference)
    rules = (_zero, _dead, _unshared, _constant, _cancelled, _linear, _duplicate, _scaled)
    while any(rule(draft) for rule in rules):
        pass
    return draft.law()


def _zero(draft: Draft) -> bool:
    """Weights that are zero (or became zero when two were added)."""
    return draft.drop([pair for pair, link in draft.links.items() if link.weight == 0])


def _dead(draft: Draft) -> bool:
    """Units with no way to the output."""
    useful = {source for _, source in draft.links} | {draft.graph.out}
    return draft.drop([pair for pair in draft.links if pair[0] not in useful])


def _unshared(draft: Draft) -> bool:
    """A parameter that only one edge is left to carry is that edge's own."""
    carried = Counter(link.shared for link in draft.links.values())
    shared = [(pair, link) for pair, link in draft.links.items() if link.shared is not None]
    alone = [(pair, link) for pair, link in shared if carried[link.shared] == 1]
    for pair, link in alone:
        draft.links[pair] = link._replace(shared=None)
    return bool(alone)


def _constant(draft: Draft) -> bool:
    """Units that no input reaches: nothing at the output, where Ψ̂ subtracts them; else one bias.

    Every constant is expressed by the first one that has no input at all, softplus(0).
    """
    value = _constants(draft)
    pairs = [(target, source) for target, source in draft.links if source in value]
    silent = [pair for pair in pairs if pair[0] == draft.graph.out or value[pair[1]] == 0]
    if silent:
        return draft.drop(silent)
    root = next((unit for unit in value if not draft.into(unit)), None)
    changed = False
    for target, source in pairs:
        if root is None or source == root or draft.tied((target, source), (target, root)):
            continue
        link, ratio = draft.links[target, source], value[source] / value[root]
        changed = draft.drop([(target, source)])
        sign, order = link.nonnegative and ratio > 0, max(link.order, 0)
        draft.add(target, root, Link(link.weight * ratio, sign, order))
    return changed


def _constants(draft: Draft) -> dict[int, float]:
    """Units that no input reaches, with their values."""
    reached = set(range(len(draft.graph.inputs)))
    value: dict[int, float] = {}
    for unit in draft.used():
        incoming = draft.into(unit)
        if reached & set(incoming):
            reached.add(unit)
        else:
            z = sum(link.weight * value[source] for source, link in incoming.items())
            value[unit] = float(ACTIVATIONS[draft.activations[unit]].value(jnp.asarray(z, float)))
    return value


def _cancelled(draft: Draft) -> bool:
    """Terms linear in an input that the normalisation cancels (J in hyperelasticity)."""
    pairs = [(draft.graph.out, index) for index in range(len(draft.graph.inputs))]
    linear = [pair for pair in pairs if pair in draft.links]
    return draft.drop([pair for pair in linear if draft.reference.cancels(pair[1])])


def _linear(draft: Draft) -> bool:
    """Identity units with one edge in or one edge out: chains of weights become single weights.

    w (v x) = (w v) x. With several edges on both sides merging would make more parameters.
    """
    changed = False
    for unit in draft.used():
        if draft.activations[unit] != "identity":
            continue
        incoming, outgoing, around = draft.into(unit), draft.out_of(unit), draft.around(unit)
        if min(len(incoming), len(outgoing)) != 1 or draft.tied(
            *around, *((target, source) for target in outgoing for source in incoming)
        ):
            continue
        draft.drop(around)
        for target, after in outgoing.items():
            for source, before in incoming.items():
                both = after.unit and before.unit
                order = UNIT if both else max(after.order, before.order, 0)
                sign = after.nonnegative and before.nonnegative
                draft.add(target, source, Link(after.weight * before.weight, sign, order))
        changed = True
    return changed


def _duplicate(draft: Draft) -> bool:
    """Units of one kind with the same weights on the same nodes: one takes over all edges.

    w₁ a(z) + w₂ a(z) = (w₁ + w₂) a(z).
    """
    changed = False
    groups: dict[tuple[str | int, ...], list[int]] = {}
    for unit in draft.used():
        groups.setdefault((draft.activations[unit], *sorted(draft.into(unit))), []).append(unit)
    for units in groups.values():
        for number, second in enumerate(units):
            first = next((unit for unit in units[:number] if _same(draft, unit, second)), None)
            outgoing = draft.out_of(second)
            if first is None or draft.tied(
                *((target, unit) for target in outgoing for unit in (second, first))
            ):
                continue
            draft.drop(draft.around(second))
            for target, link in outgoing.items():
                draft.add(target, first, link)
            changed = True
    return changed


def _same(draft: Draft, first: int, second: int) -> bool:
    """Whether two units of one kind, which see the same nodes, have the same weights."""
    a, b = draft.into(first), draft.into(second)
    return bool(a) and all(abs(a[s].weight - b[s].weight) <= _SAME * abs(a[s].weight) for s in a)


def _scaled(draft: Draft) -> bool:
    """A unit with a(kz) = kᵈ a(z) has no scale of its own: its largest weight becomes one.

    The weights that follow take the scale to the power d.
    """
    changed = False
    for unit in draft.used():
        degree = ACTIVATIONS[draft.activations[unit]].degree
        incoming, outgoing = draft.into(unit), draft.out_of(unit)
        if degree is None or not incoming or any(link.unit for link in incoming.values()):
            continue
        if draft.tied(*draft.around(unit)):
            continue
        # where some signs are fixed, divide by a positive weight
        fixed = {s: link for s, link in incoming.items() if link.nonnegative} or incoming
        chosen = max(fixed, key=lambda source: abs(fixed[source].weight))
        scale = incoming[chosen].weight
        if scale < 0 and degree % 2 and any(link.nonnegative for link in outgoing.values()):
            continue
        for source, link in incoming.items():
            draft.links[unit, source] = link._replace(weight=link.weight / scale)
        draft.links[unit, chosen] = Link(1.0, True, UNIT)
        for target, link in outgoing.items():
            # an outgoing edge of weight one loses it: the next unit is scaled in turn
            weight, order = link.weight * scale**degree, max(link.order, 0)
            draft.links[target, unit] = link._replace(weight=weight, order=order)
        changed = True
    return changed


def fold_mirrors(law: Law) -> Law:
    """Give twin laws one form: w·a(kJ) equals w·a(−kJ) where a term linear in J is cancelled.

    For a mirrored activation a(z) − a(−z) = z, so the sign of k changes nothing that is observed.
    It is made positive and fixed: otherwise every posterior would have the law twice.
    """
    graph, values, signs = law.network, np.asarray(law.values).copy(), list(law.network.nonnegative)
    uses = graph.uses()
    for unit in graph.units():
        incoming, outgoing = graph.into(unit), graph.out_of(unit)
        if len(incoming) != 1 or any(edge.target != graph.out for edge in outgoing):
            continue
        _, source, parameter = incoming[0]
        alone = source < len(graph.inputs) and law.reference.cancels(source)
        mirrored = ACTIVATIONS[graph.activation(unit)].mirrored
        if alone and mirrored and parameter != UNIT and uses[parameter] == 1:
            values[parameter], signs[parameter] = abs(values[parameter]), True
    folded = dataclasses.replace(graph, nonnegative=tuple(signs))
    return Law(folded, jnp.asarray(values), law.reference)
