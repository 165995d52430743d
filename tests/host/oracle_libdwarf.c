// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * libdwarf as it is meant to be used: one call gives all registers of a row,
 * and the address where the row starts; so an FDE is read from its end.
 *
 * Debian 12 has 20210528, whose interface differs from that of 0.x (Debian 13).
 */
#include <dwarf.h>
#include <libdwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle_libdwarf.h"

/* Registers up to 125 have a number in the psABI (k7); ms_abi code saves xmm. */
#define TABLE_SIZE	126
/* Beyond all of them. */
#define UNDEFINED	2002
#define SAME		2003
#define CFA		2004

struct oracle {
	Dwarf_Debug dbg;
	Dwarf_Cie *cies;
	Dwarf_Fde *list;
	Dwarf_Signed nr_cies;
	Dwarf_Signed nr_fdes;
	struct oracle_fde *fdes;
	Dwarf_Regtable3 regs;
	unsigned int word;
	char why[256];
};

static const char *complain(struct oracle *o, Dwarf_Error err)
{
	snprintf(o->why, sizeof(o->why), "%s", err ? dwarf_errmsg(err) : "?");
	if (err)
		dwarf_dealloc(o->dbg, err, DW_DLA_ERROR);
	return o->why;
}

static int init_path(const char *path, Dwarf_Debug *dbg, Dwarf_Error *err)
{
#ifdef HAVE_LIBDWARF_0
	return dwarf_init_path(path, NULL, 0, DW_GROUPNUMBER_ANY, NULL, NULL,
			       dbg, err);
#else
	return dwarf_init_path(path, NULL, 0, DW_DLC_READ, DW_GROUPNUMBER_ANY,
			       NULL, NULL, dbg, NULL, 0, NULL, err);
#endif
}

static int compare(const void *pa, const void *pb)
{
	const struct oracle_fde *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->off < b->off ? -1 : a->off > b->off;
}

/* Return: whether the augmentation of the FDE's CIE has an "S". */
static bool is_signal(struct oracle *o, Dwarf_Signed cie)
{
	Dwarf_Unsigned len, code;
	Dwarf_Signed data;
	Dwarf_Half ra, offset_size;
	Dwarf_Small version;
	Dwarf_Error err = NULL;
	char *augmentation;
#ifdef HAVE_LIBDWARF_0
	Dwarf_Small *insns;
#else
	Dwarf_Ptr insns;
#endif
	Dwarf_Unsigned insns_len;

	if (cie < 0 || cie >= o->nr_cies ||
	    dwarf_get_cie_info_b(o->cies[cie], &len, &version, &augmentation,
				 &code, &data, &ra, &insns, &insns_len,
				 &offset_size, &err) != DW_DLV_OK)
		return false;
	return augmentation[0] == 'z' && strchr(augmentation, 'S');
}

static int list_fdes(struct oracle *o, Dwarf_Error *err)
{
	Dwarf_Signed i;

	o->fdes = calloc((size_t)o->nr_fdes + 1, sizeof(*o->fdes));
	if (!o->fdes)
		return DW_DLV_ERROR;
	for (i = 0; i < o->nr_fdes; i++) {
		Dwarf_Unsigned len, bytes_len;
		Dwarf_Off cie_off, fde_off;
		Dwarf_Signed cie;
		Dwarf_Addr low;
#ifdef HAVE_LIBDWARF_0
		Dwarf_Small *bytes;
#else
		Dwarf_Ptr bytes;
#endif
		if (dwarf_get_fde_range(o->list[i], &low, &len, &bytes,
					&bytes_len, &cie_off, &cie, &fde_off,
					err) != DW_DLV_OK)
			return DW_DLV_ERROR;
		o->fdes[i].start = low;
		o->fdes[i].end = low + len;
		o->fdes[i].off = fde_off;
		o->fdes[i].fde = o->list[i];
		o->fdes[i].signal = is_signal(o, cie);
	}
	qsort(o->fdes, (size_t)o->nr_fdes, sizeof(*o->fdes), compare);
	return DW_DLV_OK;
}

int oracle_open(const char *path, bool debug_frame, struct oracle **oracle, const char **why)
{
	struct oracle *o = calloc(1, sizeof(*o));
	Dwarf_Error err = NULL;
	Dwarf_Half word;
	int ret;

	*oracle = o;
	if (!o)
		return -1;
	ret = init_path(path, &o->dbg, &err);
	if (ret != DW_DLV_OK) {
		*why = complain(o, err);
		o->dbg = NULL;
		return ret == DW_DLV_NO_ENTRY ? 1 : -1;
	}
	if (dwarf_get_address_size(o->dbg, &word, &err) != DW_DLV_OK) {
		*why = complain(o, err);
		return -1;
	}
	o->word = word;
	dwarf_set_frame_rule_table_size(o->dbg, TABLE_SIZE);
	dwarf_set_frame_undefined_value(o->dbg, UNDEFINED);
	dwarf_set_frame_same_value(o->dbg, SAME);
	/* One of the two it must be. */
	dwarf_set_frame_rule_initial_value(o->dbg, SAME);
	dwarf_set_frame_cfa_value(o->dbg, CFA);
	o->regs.rt3_reg_table_size = TABLE_SIZE;
	o->regs.rt3_rules = calloc(TABLE_SIZE, sizeof(*o->regs.rt3_rules));

	if (debug_frame)
		ret = dwarf_get_fde_list(o->dbg, &o->cies, &o->nr_cies, &o->list,
					 &o->nr_fdes, &err);
	else
		ret = dwarf_get_fde_list_eh(o->dbg, &o->cies, &o->nr_cies, &o->list,
					    &o->nr_fdes, &err);
	if (ret == DW_DLV_OK)
		ret = list_fdes(o, &err);
	if (ret == DW_DLV_ERROR)
		*why = complain(o, err);
	return ret == DW_DLV_OK ? 0 : ret == DW_DLV_NO_ENTRY ? 1 : -1;
}

void oracle_close(struct oracle *o)
{
	if (!o)
		return;
	if (o->dbg) {
#ifdef HAVE_LIBDWARF_0
		if (o->list)
			dwarf_dealloc_fde_cie_list(o->dbg, o->cies, o->nr_cies,
						   o->list, o->nr_fdes);
		dwarf_finish(o->dbg);
#else
		Dwarf_Error err = NULL;

		if (o->list)
			dwarf_fde_cie_list_dealloc(o->dbg, o->cies, o->nr_cies,
						   o->list, o->nr_fdes);
		dwarf_finish(o->dbg, &err);
#endif
	}
	free(o->regs.rt3_rules);
	free(o->fdes);
	free(o);
}

const struct oracle_fde *oracle_fdes(const struct oracle *o, uint64_t *count)
{
	*count = (uint64_t)o->nr_fdes;
	return o->fdes;
}

bool oracle_may_set_cfa_reg(struct oracle *o, const struct oracle_fde *fde,
			    unsigned int reg)
{
	uint8_t want[] = { DW_CFA_def_cfa_register, 0 };
	Dwarf_Unsigned len;
	Dwarf_Error err = NULL;
#ifdef HAVE_LIBDWARF_0
	Dwarf_Small *instrs;
#else
	Dwarf_Ptr instrs;
#endif

	/* i386 numbers them in another way. */
	while (want[1] < EQ_REGS && eq_place(want[1], o->word) != reg)
		want[1]++;
	return dwarf_get_fde_instr_bytes(fde->fde, &instrs, &len, &err) ==
		DW_DLV_OK && memmem(instrs, len, want, sizeof(want));
}

static void convert(const struct oracle *o, struct equation *e,
		    const Dwarf_Regtable_Entry3 *from)
{
	memset(e, 0, sizeof(*e));
#ifdef HAVE_LIBDWARF_0
	e->n = from->dw_offset;
	e->expr = from->dw_block.bl_data;
	e->len = from->dw_block.bl_len;
#else
	e->n = (int64_t)from->dw_offset_or_block_len;
	e->expr = from->dw_block_ptr;
	e->len = from->dw_offset_or_block_len;
#endif
	switch (from->dw_value_type) {
	case DW_EXPR_VAL_OFFSET:
		e->kind = EQ_VAL_OFFSET;
		return;
	case DW_EXPR_EXPRESSION:
		e->kind = EQ_EXPR;
		return;
	case DW_EXPR_VAL_EXPRESSION:
		e->kind = EQ_VAL_EXPR;
		return;
	}
	if (from->dw_regnum == UNDEFINED) {
		e->kind = EQ_UNDEFINED;
	} else if (from->dw_regnum == SAME) {
		e->kind = EQ_SAME;
	} else if (from->dw_offset_relevant) {
		e->kind = EQ_OFFSET;
	} else {
		e->reg = eq_place(from->dw_regnum, o->word);
		e->kind = e->reg < EQ_REGS ? EQ_REGISTER : EQ_OTHER;
		e->n = 0;
	}
}

int oracle_row(struct oracle *o, const struct oracle_fde *fde, uint64_t addr,
	       struct eq_row *row, uint64_t *start, const char **why)
{
	const Dwarf_Regtable_Entry3 *cfa = &o->regs.rt3_cfa_rule;
	Dwarf_Error err = NULL;
	Dwarf_Addr row_pc;
	unsigned int i;

	if (dwarf_get_fde_info_for_all_regs3(fde->fde, addr, &o->regs, &row_pc,
					     &err) != DW_DLV_OK) {
		*why = complain(o, err);
		return -1;
	}
	*start = row_pc;
	row->signal = fde->signal;
	row->word = o->word;
	memset(row->regs, 0, sizeof(row->regs));
	for (i = 0; i < EQ_REGS; i++)
		if (eq_place(i, o->word) < EQ_REGS)
			convert(o, &row->regs[eq_place(i, o->word)],
				&o->regs.rt3_rules[i]);
	/* Nobody's rsp is the same in the caller; the CFA is what is meant. */
	if (row->regs[EQ_SP].kind == EQ_SAME)
		row->regs[EQ_SP].kind = EQ_UNSPECIFIED;

	convert(o, &row->cfa, cfa);
	switch (row->cfa.kind) {
	case EQ_EXPR:
	case EQ_VAL_EXPR:
		row->cfa.kind = EQ_VAL_EXPR;
		/* libdwarf notes DW_CFA_def_cfa_register here, and no more. */
		row->cfa.reg = cfa->dw_regnum;
		break;
	case EQ_OFFSET:
	case EQ_VAL_OFFSET:
	case EQ_REGISTER:
		row->cfa.reg = eq_place(cfa->dw_regnum, o->word);
		row->cfa.kind = row->cfa.reg < EQ_REGS ? EQ_REGISTER : EQ_OTHER;
#ifdef HAVE_LIBDWARF_0
		row->cfa.n = cfa->dw_offset;
#else
		row->cfa.n = (int64_t)cfa->dw_offset_or_block_len;
#endif
		break;
	default:
		break;
	}
	return 0;
}
