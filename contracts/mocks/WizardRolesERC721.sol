// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

import {WizardERC721} from "./WizardERC721.sol";

/// @title WizardRolesERC721
/// @notice The same with roles: its owner can let others mint.
contract WizardRolesERC721 is WizardERC721, AccessControl {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");

    constructor(address owner, uint96 size) WizardERC721(owner, size) {
        _grantRole(DEFAULT_ADMIN_ROLE, owner);
    }

    function safeMint(address to, uint256 id) external onlyRole(MINTER_ROLE) {
        _safeMint(to, id);
    }

    function supportsInterface(bytes4 id) public view override(ERC721, AccessControl) returns (bool) {
        return super.supportsInterface(id);
    }
}
