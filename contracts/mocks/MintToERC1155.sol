// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155URIStorage} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155URIStorage.sol";

/// @title MintToERC1155
/// @notice Rights and mint of thirdweb's TokenERC1155, for tests of mints into adopted contracts: the highest id makes
/// the next one, and others must exist.
contract MintToERC1155 is ERC1155URIStorage, AccessControl {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");
    uint256 private _next = 0;

    error InvalidId(uint256 id);

    constructor(address admin) ERC1155("") {
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
    }

    function mintTo(address to, uint256 id, string calldata uri_, uint256 amount) external onlyRole(MINTER_ROLE) {
        uint256 made = id;
        if (id == type(uint256).max) {
            made = _next;
            ++_next;
            _setURI(made, uri_);
        } else if (id >= _next) revert InvalidId(id);
        _mint(to, made, amount, "");
    }

    function supportsInterface(bytes4 id) public view override(ERC1155, AccessControl) returns (bool) {
        return super.supportsInterface(id);
    }
}
